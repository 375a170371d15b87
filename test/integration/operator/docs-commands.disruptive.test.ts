import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { DEV_TOOLS } from '../../../dev/cluster/dev-cluster';
import { devPaths } from '../../../dev/cluster/paths';
import { PROJECT_ROOT } from '../../../operator/entry';
import { ensureTools } from '../../../tools/ensure';
import { AROUND, DRY_RUN, FILLED_IN, NOT_RUN, type DocRule } from '../../fixtures/doc-commands';
import { CertificateAuthority } from '../../harness/certificate-authority';
import { commandBlocks, type DocCommand, inlineCommands } from '../../harness/doc-commands';
import { ReaderShell, type Step } from '../../harness/reader-shell';
import { snippetsOf } from '../../harness/snippets';
import { serviceOf } from './scene';

/** A block that has not ended by then is stuck; of most, the commands take a second. */
const LIMIT_MS = 60_000;
jest.setTimeout(3 * LIMIT_MS);

/** In the order of the pages; but the cluster is started by the first block of the first of these, and that of the last two is another one. */
const FIRST = ['docs/install.md'];
const LAST = ['docs/extend.md', 'docs/operate/uninstall.md'];

/** Makes a target pool in the cloud that bears this cluster's mark and the name of a stack that is nobody's, as a restored backup leaves one. */
const LOSE = `
const fs = require('node:fs');
const { cloud } = JSON.parse(fs.readFileSync(process.env.DEV_STATE));
const headers = { authorization: 'Bearer ' + fs.readFileSync(cloud.tokenFile, 'utf8').trim() };
const ask = async (method, body) => {
  const answer = await fetch(cloud.endpoint + '/v1/pools', { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
};
(async () => {
  const [{ tags }] = (await ask('GET')).items;
  const [stack] = process.argv.slice(2);
  await ask('POST', { name: stack, protocol: 'TCP', tags: { ...tags, stack, resource: stack }, clientToken: stack });
})();
`;

let root: string;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'docs-commands-'));
  const programs = join(root, 'bin');
  mkdirSync(programs);
  const { kubectl = '' } = await ensureTools(DEV_TOOLS);
  for (const name of ['kubectl-cloud', 'cloud-operator']) symlinkSync(join(PROJECT_ROOT, `bin/${name}.js`), join(programs, name));
  // The packages of the checkout are in the PATH.
  for (const [name, text] of Object.entries({
    npx: '#!/bin/sh\nexec "$@"\n',
    lose: `#!${process.execPath}\n${LOSE}`,
    'jq-of': `#!${process.execPath}\nprocess.stdout.write(JSON.parse(require('node:fs').readFileSync(0))[process.argv[2]]);\n`,
  })) {
    writeFileSync(join(programs, name), text);
    chmodSync(join(programs, name), 0o755);
  }
  const PATH = [programs, dirname(kubectl), dirname(process.execPath), process.env.PATH].join(':');
  const XDG_CACHE_HOME = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const IMAGE = 'registry.example.com/cloud-operator:1';
  environment = { ...process.env, PATH, HOME: root, XDG_DATA_HOME: '', XDG_CACHE_HOME, IMAGE, DEBUG: '' };
  environment.DEV_STATE = paths().state;
}, 120_000);
afterAll(async () => {
  await promisify(execFile)('cloud-operator', ['dev', 'down', '--delete-data'], { env: environment });
  rmSync(root, { recursive: true, force: true });
}, 60_000);

const paths = () => devPaths('default', { XDG_DATA_HOME: join(root, '.local/share') });

const isFor = ({ page, command }: DocRule, { page: of, text }: DocCommand): boolean => of.startsWith(page) && command.test(text);

const blocks = commandBlocks()
  .map((commands) => commands.filter((command) => !NOT_RUN.some((rule) => isFor(rule, command))))
  .filter((commands) => commands.length > 0);
const pageOf = ([command]: DocCommand[]): string => command?.page ?? '';
const seen = [...new Set(blocks.map(pageOf))];
const order = [...FIRST, ...seen.filter((page) => ![...FIRST, ...LAST].includes(page)), ...LAST];

describe.each(order)('%s', (page) => {
  const own = blocks.filter((commands) => pageOf(commands) === page);
  /** A cluster of its own has one namespace; elsewhere each page has its own, and so its own Services. */
  const isShared = [...FIRST, ...LAST].includes(page);
  const namespace = page.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  let shell: ReaderShell;

  beforeAll(async () => {
    const folder = join(root, namespace);
    mkdirSync(folder);
    fill(folder, page);
    const admin = join(paths().controlPlane, 'kubeconfig');
    const KUBECONFIG = isShared ? admin : join(folder, 'kubeconfig');
    shell = new ReaderShell(folder, { ...environment, KUBECONFIG });
    if (isShared) return;
    writeFileSync(KUBECONFIG, readFileSync(admin));
    const names = ['web', ...(own.flat().some(({ text }) => text.includes('edge')) ? ['edge'] : [])];
    const step = (text: string): Step => ({ at: `${page}, what it takes for granted`, text });
    const items = names.map((name) => serviceOf(name, { namespace }));
    writeFileSync(join(folder, 'services.json'), JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    await shell.run(
      [
        step(`kubectl config set-context --current --namespace=${namespace}; kubectl create namespace ${namespace}`),
        step('kubectl apply -f services.json'),
        ...names.map((name) => step(`kubectl wait service/${name} --for=jsonpath='{.status.loadBalancer.ingress}' --timeout=60s`)),
      ],
      LIMIT_MS,
    );
  });

  test.each(own.map((commands) => [`line ${commands[0]?.line}: ${commands[0]?.text}`, commands] as const))('%s', async (_, commands) => {
    await shell.run(commands.flatMap(stepsOf), LIMIT_MS);
  });
});

/** What a reader has beside the page: a checkout, and the files that it speaks of. */
function fill(folder: string, page: string): void {
  for (const name of ['examples', '.git']) symlinkSync(join(PROJECT_ROOT, name), join(folder, name));
  const text = readFileSync(join(PROJECT_ROOT, page), 'utf8');
  const authority = new CertificateAuthority('docs');
  const { cert, key } = authority.server('cloud-operator-webhooks.cloud-operator-system.svc');
  const files: Record<string, string | undefined> = {
    'ca.pem': authority.cert,
    'webhooks.pem': cert,
    'webhooks-key.pem': key,
    'spare.ts': snippetsOf(text, 'ts')[0],
    'cloud.yaml': snippetsOf(text, 'yaml').find((yaml) => yaml.startsWith('local:')),
  };
  for (const [name, content] of Object.entries(files)) if (content !== undefined) writeFileSync(join(folder, name), content);
}

function stepsOf(command: DocCommand): Step[] {
  const { page, line, shown } = command;
  const text = FILLED_IN.filter((one) => page.startsWith(one.page)).reduce(
    (words, { from, to }) => words.replace(from, () => to),
    command.text,
  );
  const typed = isFor(DRY_RUN, command) ? text.replace(DRY_RUN.command, '$& --dry-run=server') : text;
  const around = AROUND.filter((rule) => isFor(rule, { ...command, text }));
  const at = `${page}:${line}`;
  const prints = [...headerOf(shown), ...around.flatMap((rule) => rule.prints ?? [])];
  return [
    ...around.flatMap(({ before = '' }) => (before === '' ? [] : [{ at: `before ${at}`, text: before }])),
    { at, text: typed, ...(prints.length === 0 ? {} : { prints }) },
    ...around.flatMap(({ after = [] }) => after.map((one) => ({ at: `after ${at}`, text: one, prints: [] }))),
  ];
}

/** A table that a page shows has the columns that are printed. */
function headerOf([first = '']: string[]): string[] {
  return /^[A-Z][A-Z ]+$/.test(first) ? [`^${first.trim().replaceAll(/ {2,}/g, ' +')}`] : [];
}

/** Subcommands that a command line has, before its options: `local-cloud address`. */
const SUBCOMMAND =
  /^(?:npx )?(?:sudo )?(?:cloud-operator|kubectl cloud) ([a-z-]+(?: (?:up|down|status|logs|serve|register|address|list|export|import|move|rotate-key|moto))?)/;

test('every option of ours that a page names is one of its command, also in the text and where it is not run', async () => {
  const fenced = commandBlocks().flat();
  const ours = [...fenced, ...inlineCommands()].flatMap((command) => {
    const [, subcommand] = SUBCOMMAND.exec(command.text.replace(/^sudo /, '')) ?? [];
    const [own = '', passed = ''] = command.text.split(/ -- /);
    const options = (text: string): string[] => [...text.matchAll(/(?<= )--[a-z][a-z-]+/g)].map(([option]) => option);
    if (subcommand === undefined) return [];
    return [
      { ...command, subcommand, options: options(own) },
      { ...command, subcommand: 'controller-manager', options: options(passed) },
    ];
  });
  const help = new Map<string, string>();
  for (const subcommand of new Set(ours.map((one) => one.subcommand))) {
    const done = await promisify(execFile)('cloud-operator', [...subcommand.split(' '), '--help'], { env: environment });
    help.set(subcommand, done.stdout);
  }
  const unknown = ours.flatMap(({ page, line, subcommand, options }) =>
    options.filter((option) => help.get(subcommand)?.includes(option) !== true).map((option) => `${page}:${line}: ${subcommand} ${option}`),
  );
  expect(unknown).toEqual([]);
});
