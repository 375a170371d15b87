import { flag, type FlagGroup } from '../flag';
import { BOOLEAN, DURATION, FEATURE_GATES, FLOAT32, INT32, STRING, STRINGS } from '../types';

const MINUTE = 60_000;

export const GENERIC = {
  'allow-untagged-cloud': flag(BOOLEAN, false, 'Run without a cluster id in the cloud’s tags', {
    deprecated: 'still accepted',
    inert: 'the cluster id is the UID of the namespace kube-system, which every cluster has',
  }),
  'allocate-node-cidrs': flag(BOOLEAN, false, 'Give every Node its pod CIDRs; needs --cluster-cidr'),
  'cidr-allocator-type': flag(STRING, 'RangeAllocator', 'How pod CIDRs are chosen; upstream’s other words are refused, as there'),
  'cloud-config': flag(STRING, '', 'File with the configuration of --cloud-provider: the spec of a CloudProvider, as YAML or JSON'),
  'cloud-provider': flag(STRING, '', 'Kind of the default cloud; more clouds come from CloudProvider objects'),
  'cluster-cidr': flag(STRING, '', 'Pod CIDRs of the cluster, separated by commas: one, or one of each IP family'),
  'cluster-name': flag(STRING, 'kubernetes', 'Name of the cluster in the names and tags of upstream', {
    inert: 'what is in the cloud carries the cluster id in its tags, which is the UID of the namespace kube-system',
  }),
  'configure-cloud-routes': flag(BOOLEAN, true, 'Keep a route in the cloud for every pod CIDR'),
  'controller-start-interval': flag(DURATION, 0, 'Pause between the starts of two controllers'),
  controllers: flag(STRINGS, ['*'], 'Controllers to run: * = all that are on by default, name = this one, -name = not this one'),
  'external-cloud-volume-plugin': flag(STRING, '', 'Volume plugin of the cloud', {
    inert: 'no controller here handles volumes; upstream ignores it too',
  }),
  'feature-gates': flag(FEATURE_GATES, [], 'Comma-separated list of gate=true or gate=false'),
  'kube-api-burst': flag(INT32, 30, 'Requests to the API server at once'),
  'kube-api-content-type': flag(STRING, 'application/vnd.kubernetes.protobuf', 'Content type of requests to the API server', {
    inert: 'requests are JSON, so that fields which this program doesn’t know are kept',
  }),
  'kube-api-qps': flag(FLOAT32, 20, 'Requests to the API server a second; 0 = no limit'),
  'leader-elect': flag(BOOLEAN, true, 'Work only while holding the Lease'),
  'leader-elect-lease-duration': flag(DURATION, 15_000, 'How long others wait after the last renewal that they saw'),
  'leader-elect-renew-deadline': flag(
    DURATION,
    10_000,
    'How long the leader tries to renew before it gives up; less than the lease duration',
  ),
  'leader-elect-resource-lock': flag(STRING, 'leases', 'Kind of the lock: leases'),
  'leader-elect-resource-name': flag(STRING, 'cloud-controller-manager', 'Name of the Lease'),
  'leader-elect-resource-namespace': flag(STRING, 'kube-system', 'Namespace of the Lease'),
  'leader-elect-retry-period': flag(DURATION, 2_000, 'Pause between two tries to get or renew the Lease'),
  'min-resync-period': flag(DURATION, 720 * MINUTE, 'Every object is looked at again after once to twice this time'),
  'node-sync-period': flag(DURATION, 0, 'Has no effect', { deprecated: 'has no effect upstream either', inert: 'upstream ignores it too' }),
  'route-reconciliation-period': flag(DURATION, 10_000, 'How often routes are compared with the cloud’s'),
  'use-service-account-credentials': flag(
    BOOLEAN,
    false,
    'Give every controller the credentials of upstream’s ServiceAccount for it in kube-system, made when it is absent',
  ),
} satisfies FlagGroup;
