import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../../operator/entry';
import { AROUND, DRY_RUN, FILLED_IN, NOT_RUN } from '../../fixtures/doc-commands';
import { commandBlocks, shownBlocks } from '../../harness/doc-commands';

const all = commandBlocks().flat();

/** As they are typed. */
const filled = all.map((command) => ({
  ...command,
  text: FILLED_IN.filter(({ page }) => command.page.startsWith(page)).reduce(
    (text, { from, to }) => text.replace(from, () => to),
    command.text,
  ),
}));

describe('commands of the docs', () => {
  test('are found: continued lines, here-documents and loops are one each, what is printed is none', () => {
    expect(all.length).toBeGreaterThan(110);
    expect(all.filter(({ text }) => /\\$/.test(text))).toEqual([]);
    const programs = new Set(all.map(({ text }) => text.split(/[ =]/)[0]));
    const known =
      'IMAGE apt-get chown cloud-operator curl docker echo export for helm id kubeadm kubectl kubelet ln npm npx pulumi skopeo source sudo';
    expect([...programs].sort()).toEqual(known.split(' '));
  });

  test('each knows its line', () => {
    for (const { page, line, text } of all) {
      const [first = ''] = text.split('\n');
      expect(readFileSync(join(PROJECT_ROOT, page), 'utf8').split('\n')[line - 1]).toContain(first);
    }
  });

  test('a block that has none is what is printed, or a drawing', () => {
    expect(shownBlocks()).toEqual([
      'README.md: Service ─┐',
      'docs/architecture.md: Service ─┐',
      'docs/extend.md: transform(local:inde',
      'docs/operate/plan-and-approve.md: … moves it to anothe',
    ]);
  });

  test.each([DRY_RUN, ...NOT_RUN, ...AROUND].map((rule) => [rule.page, String(rule.command), rule] as const))(
    '%s: %s is one that is there',
    (page, _, { command }) => {
      const named = [...all, ...filled].filter((one) => one.page.startsWith(page) && command.test(one.text));
      expect(named).not.toEqual([]);
    },
  );

  test.each(FILLED_IN.map((one) => [one.page, String(one.from), one] as const))('%s: %s is the reader’s own', (page, _, { from }) => {
    expect(all.filter((one) => one.page.startsWith(page) && from.test(one.text))).not.toEqual([]);
  });

  test('what is not run has a reason, or a test that is there', () => {
    for (const { why, test: file } of NOT_RUN) {
      expect([why, file].filter((one) => one !== undefined)).toHaveLength(1);
      if (file !== undefined) expect([file, existsSync(join(PROJECT_ROOT, file))]).toEqual([file, true]);
    }
  });

  test('scripts of npm are those of the package', () => {
    const { scripts } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
    const named = all.flatMap(({ text }) => /^npm run ([\w:-]+)/.exec(text)?.[1] ?? []);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });
});
