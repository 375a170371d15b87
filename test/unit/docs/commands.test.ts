import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../../operator/entry';
import { NOT_RUN } from '../../fixtures/doc-commands';
import { commandBlocks, pages, shownBlocks } from '../../harness/doc-commands';

const all = pages()
  .flatMap(commandBlocks)
  .flatMap(({ page, commands }) => commands.map((command) => ({ page, command })));

describe('commands of the docs', () => {
  test('are found: continued lines, here-documents and loops are one each, what is printed is none', () => {
    expect(all.length).toBeGreaterThan(120);
    expect(all.filter(({ command }) => /\\$/.test(command))).toEqual([]);
    const programs = new Set(all.map(({ command }) => command.split(/[ =]/)[0]));
    const known =
      'IMAGE apt-get chown cloud-operator curl docker echo export for helm id kubeadm kubectl kubelet ln npm npx pulumi skopeo source sudo';
    expect([...programs].sort()).toEqual(known.split(' '));
  });

  test('a block that has none is what is printed, or a drawing', () => {
    expect(pages().flatMap((page) => shownBlocks(page).map((line) => `${page}: ${line.trim().slice(0, 20)}`))).toEqual([
      'README.md: Service ─┐          ',
      'docs/architecture.md: Service ─┐          ',
      'docs/clouds/aws.md: endpoints:',
      'docs/extend.md: transform(local:inde',
      'docs/operate/plan-and-approve.md: … moves it to anothe',
    ]);
  });

  test.each(NOT_RUN.map((one) => [one.page, String(one.command), one] as const))('%s: %s is one that is there', (page, _, { command }) => {
    expect(all.filter((one) => one.page.startsWith(page) && command.test(one.command))).not.toEqual([]);
  });

  test('what is not run has a reason, or a test that is there', () => {
    for (const { why, test: file } of NOT_RUN) {
      expect([why, file].filter((one) => one !== undefined)).toHaveLength(1);
      if (file !== undefined) expect([file, existsSync(join(PROJECT_ROOT, file))]).toEqual([file, true]);
    }
  });
});
