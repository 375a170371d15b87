import { isIP } from 'node:net';
import { Option, type Command } from 'commander';
import type { ManifestOptions, Workload } from '../../synth/manifests';
import { OperatorError } from '../base/errors';

/** As commander reads them. */
export interface ShapeFlags {
  workload?: Workload;
  network?: NonNullable<ManifestOptions['network']>;
  apiServer?: string;
  monitoring?: boolean;
  ui?: boolean;
}

/** What is chosen elsewhere too; it decides what fits. */
interface Others {
  out?: string;
  replicas?: string;
  cloudConfig?: string;
  extension?: string;
  leaderMigrationConfig?: string;
  webhooks?: string;
  controllerManager?: Workload;
}

/** Names of their options, for those that exclude each other. */
export const SHAPE_OPTIONS = ['workload', 'network', 'apiServer', 'monitoring', 'ui'];

/** Adds the options that say what runs the operator, and how it is reached. */
export function addShapeOptions(command: Command): Command {
  const workload = 'what runs the operator: a DaemonSet on the control-plane Nodes, or a file for a kubelet (default: Deployment)';
  return command
    .addOption(new Option('--workload <kind>', workload).choices(['Deployment', 'DaemonSet', 'StaticPod']).conflicts('controllerManager'))
    .addOption(
      new Option('--network <whose>', 'Host works before there is any other network; Pod needs fewer rights (default: Host)').choices([
        'Host',
        'Pod',
      ]),
    )
    .option('--api-server <host:port>', 'where the Pods reach the API server, if nothing routes to Services yet')
    .option('--monitoring', 'serve metrics to the cluster; ServiceMonitor, PrometheusRule and a dashboard for Grafana')
    .option('--ui', 'serve the operator’s page, and who may see it: for kubectl cloud ui');
}

/** @throws OperatorError Invalid for what doesn't go together */
export function shapeOf(flags: ShapeFlags & Others): Pick<ManifestOptions, keyof ShapeFlags> {
  refuseUnfit(flags);
  const { workload, network, apiServer, monitoring, ui } = flags;
  return {
    ...(workload === undefined ? {} : { workload }),
    ...(network === undefined ? {} : { network }),
    ...(apiServer === undefined ? {} : { apiServer: endpointOf(apiServer) }),
    ...(monitoring === undefined ? {} : { monitoring }),
    ...(ui === undefined ? {} : { ui }),
  };
}

function refuseUnfit(flags: ShapeFlags & Others): void {
  const runs = flags.controllerManager ?? flags.workload ?? 'Deployment';
  if (runs !== 'Deployment' && flags.replicas !== undefined) throw invalid(`--replicas is for a Deployment, not for a ${runs}`);
  if (flags.network === 'Pod' && (runs !== 'Deployment' || flags.controllerManager !== undefined))
    throw invalid('--network Pod is for a Deployment without --controller-manager: others run before there is a Pod network');
  if (runs === 'StaticPod') refuseInStaticPod(flags);
}

/** A kubelet starts it before it has asked the API server for anything. */
function refuseInStaticPod({ out, apiServer, ...flags }: ShapeFlags & Others): void {
  const brought = ['cloudConfig', 'extension', 'leaderMigrationConfig', 'webhooks'] as const;
  const one = brought.find((name) => flags[name] !== undefined);
  const option = one?.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  if (option !== undefined) throw invalid(`--${option} needs a ConfigMap or Secret, which a static Pod can't have`);
  if (apiServer !== undefined) throw invalid('--api-server is what the kubeconfig of a static Pod says');
  if (out === undefined) throw invalid('a static Pod is a file of its own: say with --out where it goes');
}

function endpointOf(text: string): NonNullable<ManifestOptions['apiServer']> {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain ?? '';
  const port = Number(digits);
  const named = bracketed === undefined ? /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/i.test(host) : isIP(host) === 6;
  if (named && port >= 1 && port <= 65_535) return { host, port };
  throw invalid(`--api-server "${text}" is no <host>:<port>, such as 192.0.2.10:6443 or [2001:db8::10]:6443`);
}

function invalid(message: string): OperatorError {
  return new OperatorError('Invalid', message);
}
