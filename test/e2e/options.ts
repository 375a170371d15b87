import { OperatorError } from '../../operator/base/errors';
import { type Flags, parseFlags, wholeNumber } from '../harness/command-options';

export interface Options {
  nodes: number;
  proxyMode: string;
  /** Parts of titles; empty = every test. */
  focus: string[];
  /** How many of the tests run at once. */
  parallel: number;
  /** Time for all tests, in minutes. */
  minutes: number;
  keep: boolean;
  /** Ends before the tests, and waits. */
  onlyCluster: boolean;
}

const PROXY_MODES = ['nftables', 'iptables'];

export const HELP = `Usage: npm run test:e2e -- [options]

Runs Kubernetes' own [Feature:LoadBalancer] end-to-end tests against the local cloud, with cloud-operator as the only cloud-controller-manager: a real control
plane, and nodes that are containerd, kubelet and kube-proxy in namespaces of their own. No image is pulled. Prints each test's outcome; exit code 1 where one failed.

Needs root, and (packages of Debian): nft (nftables), ip (iproute2), unshare and nsenter (util-linux), containerd and ctr (containerd), runc, the CNI plugins
(containernetworking-plugins), busybox (busybox-static), nc (netcat-openbsd), curl, wget. The first time about ten minutes more, to build kubelet, kube-proxy,
kube-scheduler and the tests from their Go modules.

Options:
  --nodes <n>       nodes (default: 2; with one, upstream skips some tests)
  --proxy <mode>    kube-proxy's mode: ${PROXY_MODES.join(' or ')} (default: nftables)
  --focus <text>    only tests whose title has this text; may be repeated
  --parallel <n>    tests that run at once (default: 4)
  --minutes <n>     time for all tests (default: 60)
  --cluster         only start the cluster, and keep it until Ctrl-C
  --keep            keep the folder with logs and reports
  -h, --help        show this help
`;

const FLAGS = {
  nodes: { type: 'string', default: '2' },
  proxy: { type: 'string', default: 'nftables' },
  focus: { type: 'string', multiple: true, default: [] },
  parallel: { type: 'string', default: '4' },
  minutes: { type: 'string', default: '60' },
  cluster: { type: 'boolean', default: false },
  keep: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} satisfies Flags;

/**
 * @returns undefined when the help was asked for
 * @throws OperatorError Invalid with one line about the argument at fault
 */
export function optionsOf(args: readonly string[]): Options | undefined {
  const values = parseFlags(args, FLAGS);
  if (values.help) return undefined;
  if (!PROXY_MODES.includes(values.proxy)) {
    throw new OperatorError('Invalid', `--proxy must be ${PROXY_MODES.join(' or ')}, not "${values.proxy}"`);
  }
  return {
    nodes: wholeNumber('--nodes', values.nodes, 3),
    proxyMode: values.proxy,
    focus: values.focus,
    parallel: wholeNumber('--parallel', values.parallel, 3),
    minutes: wholeNumber('--minutes', values.minutes, 3),
    keep: values.keep,
    onlyCluster: values.cluster,
  };
}
