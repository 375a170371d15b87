import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Tier } from '../../dev/cluster/local-cloud';
import { DEV_TOOLS, type DevClusterOptions } from '../../dev/cluster/dev-cluster';
import { launch } from '../../dev/cluster/launch';
import { devPaths } from '../../dev/cluster/paths';
import { shutDown } from '../../dev/cluster/shutdown';
import { readState, type DevState } from '../../dev/cluster/state';
import { Supervisor } from '../../dev/cluster/supervisor';
import { ensureTools } from '../../tools/ensure';
import { isRunning } from '../../tools/live-process';
import { OperatorError } from '../base/errors';
import { PROJECT_ROOT } from '../entry';
import { exportsOf } from '../updates/extension-exports';
import { findExtension } from '../updates/extension-module';
import { nameOption } from './dev-name';
import { invocation } from './invocation';
import { formatTable } from './table';

export interface UpFlags {
  name: string;
  operator: boolean;
  foreground?: boolean;
  tier: string;
  logLevel: string;
  nodes: number;
  extension?: string;
}

/** `dev up`. @throws OperatorError why it isn't up */
export async function devUp(flags: UpFlags): Promise<void> {
  const paths = devPaths(flags.name);
  const extension = await extensionOf(flags);
  const state = readState(paths.state);
  if (state?.phase === 'Ready' && isRunning(state.supervisor)) {
    process.stdout.write(
      `The development cluster "${flags.name}" is up already.${different(state, flags, extension)}\n${describe(state, flags.name)}`,
    );
    return;
  }
  if (state !== undefined && !isRunning(state.supervisor)) await shutDown(paths); // what a killed supervisor may have left
  const began = performance.now();
  const options: DevClusterOptions = {
    directory: paths.root,
    tools: await ensureTools(DEV_TOOLS),
    tier: flags.tier as Tier,
    operator: flags.operator,
    nodes: flags.nodes,
    logLevel: flags.logLevel,
    ...(extension === undefined ? {} : { extension }),
    report: (line) => process.stderr.write(`${line}\n`),
  };
  const announce = (ready: DevState): void => {
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    process.stdout.write(`The development cluster "${flags.name}" is up, after ${seconds} s.\n${describe(ready, flags.name)}`);
  };
  if (flags.foreground !== true) return announce(await launch(options));
  await stayUp(options, announce);
}

/** @returns the absolute path of the module @throws OperatorError Invalid when there is none, it can't be loaded, or no operator would use it */
async function extensionOf({ extension, operator }: UpFlags): Promise<string | undefined> {
  if (extension === undefined) return undefined;
  if (!operator) throw new OperatorError('Invalid', '--extension is for the operator: leave out --no-operator, or give it to `run`');
  const module = findExtension(extension, process.cwd());
  await exportsOf(module);
  return module.path;
}

/** What it is told now and was not told when it was started. */
function different(state: DevState, flags: UpFlags, extension: string | undefined): string {
  const was = [
    ...(flags.operator && state.operator === undefined ? ['with --no-operator'] : []),
    ...(extension !== state.extension
      ? [state.extension === undefined ? 'without --extension' : `with --extension ${state.extension}`]
      : []),
    ...(flags.nodes !== (state.nodes ?? 0) ? [`with --nodes ${state.nodes ?? 0}`] : []),
  ];
  return was.length === 0 ? '' : ` It was started ${was.join(' and ')}; to change that, end it with \`dev down\` first.`;
}

async function stayUp(options: DevClusterOptions, announce: (state: DevState) => void): Promise<void> {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
  await new Supervisor(options).run(stop.signal, (state) => {
    announce(state);
    process.stdout.write('It ends with Ctrl-C.\n');
  });
}

function describe(state: DevState, name: string): string {
  const parts = [['API server', state.apiServer ?? '', '']];
  if (state.cloud !== undefined) parts.push(['local cloud', state.cloud.endpoint, state.cloud.reason]);
  if (state.nodes !== undefined && state.nodes > 0)
    parts.push(['nodes', String(state.nodes), 'simulated: they answer at NodePorts by themselves']);
  if (state.operator !== undefined) parts.push(['operator', `${state.operator}/metrics`, '']);
  const rows = parts.map((row) => ['', ...row]);
  const [header = [], ...others] = rows;
  return `\n${formatTable(header, others)}\nTry it:\n${commands(state, name)
    .map((line) => `   ${line}\n`)
    .join('')}`;
}

function commands(state: DevState, name: string): string[] {
  const program = invocation();
  const suffix = nameOption(name);
  return [
    `export KUBECONFIG=${state.kubeconfig}`,
    'kubectl get nodes',
    ...(state.operator === undefined ? [ownOperator(state, program)] : []),
    ...example(state, `${program} local-cloud address web${suffix}`),
    `${program} dev status${suffix}`,
    `${program} dev logs -f${suffix}`,
    `${program} dev down${suffix}`,
  ];
}

/** How a person starts the operator that `--no-operator` left out; more flags go to its end. */
function ownOperator({ kubeconfig, cloudConfig }: DevState, program: string): string {
  return `${program} run --kubeconfig ${kubeconfig} --cloud-provider local --cloud-config ${cloudConfig}   # in another terminal`;
}

function example({ nodes = 0 }: DevState, address: string): string[] {
  const file = join(PROJECT_ROOT, 'examples', 'web.yaml');
  if (!existsSync(file)) return [];
  return [
    `kubectl apply -f ${shorter(file)}`,
    "kubectl wait --for=jsonpath='{.status.loadBalancer.ingress}' service/web",
    ...(nodes > 0 ? [`curl http://$(${address})/`] : []),
    'kubectl get services,cloud -A',
  ];
}

function shorter(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith('..') ? path : fromHere;
}
