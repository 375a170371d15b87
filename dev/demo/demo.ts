import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../operator/entry';
import { KubeClient } from '../../operator/kube/client';
import { loadKubeConfig } from '../../operator/kube/kube-config';
import type { ToolName } from '../../tools/catalogue';
import { DevCluster } from '../cluster/dev-cluster';
import type { Tier } from '../cluster/local-cloud';
import { Fleet } from '../nodes/fleet';
import { DemoCloud } from './cloud';
import { DemoFolder } from './folder';
import { Report } from './report';
import { nothingIsLeft } from './steps/cleanup';
import { loadBalancerIsRepaired } from './steps/drift';
import { cloudMisbehaves } from './steps/faults';
import { nodesAreInitialized } from './steps/nodes';
import { nodeLeavesUnderLoad } from './steps/node-removal';
import { routeComesBack } from './steps/routes';
import { serviceAnswers } from './steps/service';
import { servicesShareAnAddress } from './steps/shared';
import { World } from './world';

export interface DemoOptions {
  /** From ensureTools(DEV_TOOLS). */
  tools: Record<ToolName, string>;
  tier: Tier;
  /** Leave everything running at the end, until Ctrl-C. */
  keep: boolean;
  /** Ends it at once. */
  signal: AbortSignal;
  write: (line: string) => void;
  /** What a person types for this program. */
  program: string;
}

const NODE_COUNT = 3;
/** Short, so that nobody has to wait for what was changed behind our back. */
const PROVIDER = { driftInterval: '1s', routePeriod: '1s' };

/** The main job from end to end, with proof. @returns true when every step was run and everything held */
export async function demo(options: DemoOptions): Promise<boolean> {
  const report = new Report(options.write);
  const folder = DemoFolder.make((line) => report.say(line));
  let cluster: DevCluster | undefined;
  let world: World | undefined;
  let namespaces: string[] | undefined;
  let finished = false;
  try {
    const { tools, tier, signal } = options;
    signal.throwIfAborted();
    cluster = await DevCluster.start({
      ...{ directory: folder.path, tools, tier, provider: PROVIDER, operator: true, nodeLifecycle: true, fsync: false, logLevel: 'info' },
      report: (line) => report.say(line),
      signal,
    });
    report.say(`local cloud: ${cluster.cloud.reason}`);
    report.say('nodes and pods are stand-ins: small processes that answer as they would; API server, engine and packets are real');
    world = await makeWorld(report, cluster, options);
    namespaces = (await world.cloud.admin.topology()).netns;
    await runSteps(world, options);
    finished = true;
    if (options.keep) await stay(report, cluster, options);
  } catch (thrown) {
    if (!options.signal.aborted) report.prove(false, 'the demo goes on', (thrown as Error).message);
  } finally {
    await world?.fleet.stop();
    await world?.cloud.close();
    const processes = cluster?.processes.map(({ pid }) => pid) ?? [];
    await cluster?.stop();
    if (cluster !== undefined) proveNothingRuns(report, processes, namespaces);
    if (report.failed === 0) folder.remove();
    else leaveLogs(report, folder);
  }
  return conclude(report, options, finished);
}

async function makeWorld(report: Report, cluster: DevCluster, { tools: { kubectl }, signal }: DemoOptions): Promise<World> {
  const kubeconfig = cluster.controlPlane.kubeconfigPath;
  const { endpoint, tokenFile } = cluster.cloud;
  const token = readFileSync(tokenFile, 'utf8').trim();
  const kube = new KubeClient(loadKubeConfig({ kubeconfig }));
  const fleet = await Fleet.start({ kubeconfig, endpoint, token, count: NODE_COUNT, signal });
  return new World({ report, kube, kubeconfig, kubectl, cloud: new DemoCloud(endpoint, token), fleet, signal });
}

async function runSteps(world: World, { keep, signal }: DemoOptions): Promise<void> {
  const example = (name: string): string => join(PROJECT_ROOT, 'examples', name);
  const steps = [
    () => nodesAreInitialized(world),
    () => serviceAnswers(world, example('web.yaml')),
    () => nodeLeavesUnderLoad(world),
    () => routeComesBack(world),
    () => loadBalancerIsRepaired(world),
    () => servicesShareAnAddress(world, example('shared.yaml')),
    () => cloudMisbehaves(world, example('web-faults.yaml')),
    ...(keep ? [] : [() => nothingIsLeft(world)]),
  ];
  for (const step of steps) {
    signal.throwIfAborted();
    await step();
  }
}

async function stay(report: Report, cluster: DevCluster, options: DemoOptions): Promise<void> {
  const lines = [
    '',
    'Everything stays up until Ctrl-C. In another terminal:',
    `   export KUBECONFIG=${cluster.controlPlane.kubeconfigPath}`,
    ...COMMANDS.map((command) => `   ${command}`),
    'Change something, in Kubernetes or behind its back, and look again:',
    ...changes(cluster, options.program).map((command) => `   ${command}`),
  ];
  lines.forEach((line) => options.write(line));
  if (options.signal.aborted) return;
  await report.without(new Promise<void>((resolve) => options.signal.addEventListener('abort', () => resolve(), { once: true })));
}

function changes({ cloud, paths }: DevCluster, program: string): string[] {
  const reach = `--endpoint ${cloud.endpoint} --token-file ${cloud.tokenFile}`;
  return [
    `${program} local-cloud address ${reach}   # where the load balancers answer on this machine`,
    `kubectl patch service web --type merge -p '{"spec":{"loadBalancerSourceRanges":["198.51.100.0/24"]}}'`,
    `kubectl patch clb web --type merge -p '{"spec":{"updatePolicy":{"approval":"Manual"}}}'   # from now on, changes of web wait for you`,
    `${program} local-cloud drift '{"kind":"deleteRoute","destinationCIDR":"10.244.1.0/24"}' ${reach}`,
    `tail -f ${join(paths.logs, 'operator.log')}`,
  ];
}

function proveNothingRuns(report: Report, processes: number[], namespaces: string[] | undefined): void {
  const running = processes.filter((pid) => existsSync(`/proc/${pid}`));
  report.prove(running.length === 0, 'processes left', String(running.length));
  if (namespaces === undefined) return;
  const left = existsSync('/run/netns') ? readdirSync('/run/netns').filter((name) => namespaces.includes(name)) : [];
  report.prove(left.length === 0, 'network namespaces left', String(left.length));
}

function leaveLogs(report: Report, folder: DemoFolder): void {
  folder.keep();
  report.say(`logs are kept in ${join(folder.path, 'logs')}`);
}

function conclude(report: Report, { keep, write }: DemoOptions, finished: boolean): boolean {
  write('');
  if (!finished && report.failed === 0) {
    write('Stopped before the end; everything is cleaned up.');
    return false;
  }
  if (report.failed > 0) write(`${report.failed} did not hold.`);
  else write(`All of it held, in ${report.elapsed.toFixed(1)} s${keep ? ' (without the time that you took), and it ended cleanly' : ''}.`);
  if (!keep) {
    write('Run it with --keep, which says how to reach the cluster, and try:');
    COMMANDS.forEach((command) => write(`   ${command}`));
  }
  return report.failed === 0;
}

const COMMANDS = [
  'kubectl get services,cloudloadbalancers',
  'kubectl get cloud -A',
  'kubectl describe cloudloadbalancer web',
  'kubectl get cloudstacks -o wide',
  'kubectl get cloudroutes,cloudinstances',
];
