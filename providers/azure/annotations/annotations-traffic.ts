import { hasNoHostBits, maskedCIDR } from '../../../crds';
import * as read from '../../annotation-values';
import { type Annotation, TRUTH, TRUTH_OF_OPPOSITE } from './annotation';

/** Words for probes, in capitals or not; upstream makes TCP of any other. */
const PROBE = { expects: 'tcp, http or https', parse: read.wordOfAnyCase({ tcp: 'TCP', http: 'HTTP', https: 'HTTPS' }) };
const INTERVAL = { expects: 'a whole number of seconds from 5 to 119', parse: read.whole(5, 119) };
const THRESHOLD = { expects: 'a whole number from 2 to 23', parse: read.whole(2, 23) };
const PATH = { expects: 'a path', parse: (text: string): string => text };

/** Annotations that say who is let in. */
export const OF_ACCESS: readonly Annotation[] = [
  {
    name: 'allowed-service-tags',
    field: 'access.serviceTags',
    default: 'none',
    mutable: true,
    expects: 'service tags of Azure, separated by commas',
    parse: read.list(read.matching(/^[A-Za-z][A-Za-z0-9.]{0,79}$/, 'a service tag'), 50),
  },
  {
    name: 'allowed-ip-ranges',
    field: 'access.ranges',
    default: 'everybody',
    mutable: true,
    expects: 'CIDRs, separated by commas',
    parse: read.list(sourceRange, 4000),
  },
  { name: 'deny-all-except-load-balancer-source-ranges', field: 'access.denyOthers', default: 'false', mutable: true, ...TRUTH },
  {
    name: 'disable-load-balancer-nsg-rule',
    field: 'access.rules',
    default: 'false',
    mutable: true,
    expects: TRUTH.expects,
    parse: (text) => (TRUTH.parse(text) ? 'None' : 'Managed'),
  },
];

/** Annotations that say how traffic goes on. */
export const OF_TRAFFIC: readonly Annotation[] = [
  {
    name: 'load-balancer-tcp-idle-timeout',
    field: 'idleTimeoutMinutes',
    default: '4',
    mutable: true,
    expects: 'a whole number of minutes from 4 to 100',
    parse: read.whole(4, 100),
  },
  {
    name: 'load-balancer-enable-high-availability-ports',
    field: 'allPorts',
    default: 'false',
    mutable: true,
    only: 'Internal',
    ...TRUTH,
  },
  { name: 'load-balancer-disable-tcp-reset', field: 'tcpReset', default: 'false', mutable: true, ...TRUTH_OF_OPPOSITE },
  { name: 'disable-load-balancer-floating-ip', field: 'floatingIP', default: 'false', mutable: true, ...TRUTH_OF_OPPOSITE },
  { name: 'load-balancer-health-probe-protocol', field: 'probe.protocol', default: 'tcp', mutable: true, ...PROBE },
  { name: 'load-balancer-health-probe-interval', field: 'probe.intervalSeconds', default: '5', mutable: true, ...INTERVAL },
  { name: 'load-balancer-health-probe-num-of-probe', field: 'probe.threshold', default: '2', mutable: true, ...THRESHOLD },
  { name: 'load-balancer-health-probe-request-path', field: 'probe.path', default: '/', mutable: true, ...PATH },
];

/** Annotations of one port: `port_<number>_<name>`. They go before appProtocol, and that before those of all ports. */
export const OF_PORTS: readonly Annotation[] = [
  { name: 'no_lb_rule', field: 'ports[].rule', default: 'false', mutable: true, ...TRUTH_OF_OPPOSITE },
  { name: 'no_probe_rule', field: 'ports[].probe', default: 'false', mutable: true, ...TRUTH_OF_OPPOSITE },
  { name: 'health-probe_protocol', field: 'ports[].protocol', default: 'appProtocol, else that of all ports', mutable: true, ...PROBE },
  {
    name: 'health-probe_port',
    field: 'ports[].probePort',
    default: 'its own',
    mutable: true,
    expects: 'the name or number of a port of the Service, or the number of one of the Nodes',
    parse: read.matching(/^[A-Za-z0-9-]{1,63}$/, 'a name or number of a port'),
  },
  { name: 'health-probe_interval', field: 'ports[].intervalSeconds', default: 'that of all ports', mutable: true, ...INTERVAL },
  { name: 'health-probe_num-of-probe', field: 'ports[].threshold', default: 'that of all ports', mutable: true, ...THRESHOLD },
  { name: 'health-probe_request-path', field: 'ports[].path', default: 'that of all ports', mutable: true, ...PATH },
];

/** Bits beyond the mask are refused, as by upstream: who writes them may mean one address alone, and would let in all of them. */
function sourceRange(text: string): string {
  const range = read.networkPrefix(text);
  if (hasNoHostBits(range)) return range;
  throw new Error(`"${range}" has bits beyond its mask, without which it is ${maskedCIDR(range)}`);
}
