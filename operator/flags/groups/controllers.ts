import { flag, type FlagGroup } from '../flag';
import { DURATION, INT32, STRING } from '../types';

export const NODE_CONTROLLER = {
  'concurrent-node-status-updates': flag(
    INT32,
    0,
    'Nodes whose addresses are brought up to date at the same time; 0 = as --concurrent-node-syncs',
  ),
  'concurrent-node-syncs': flag(INT32, 1, 'Nodes that are initialized at the same time'),
  'node-status-update-frequency': flag(DURATION, 300_000, 'How often the addresses of all Nodes are brought up to date'),
} satisfies FlagGroup;

export const NODE_LIFECYCLE_CONTROLLER = {
  'concurrent-node-lifecycle-syncs': flag(INT32, 1, 'Nodes that the lifecycle controller looks at at the same time'),
  'node-monitor-period': flag(DURATION, 5_000, 'How often Nodes that are not Ready are looked up in the cloud'),
} satisfies FlagGroup;

export const SERVICE_CONTROLLER = {
  'concurrent-service-syncs': flag(INT32, 1, 'Services that are worked on at the same time'),
} satisfies FlagGroup;

export const NODE_IPAM_CONTROLLER = {
  'node-cidr-mask-size': flag(INT32, 0, 'Mask of a Node’s pod CIDR in a single-stack cluster; 0 = 24 for IPv4, 64 for IPv6'),
  'node-cidr-mask-size-ipv4': flag(INT32, 0, 'Mask of a Node’s IPv4 pod CIDR; 0 = 24'),
  'node-cidr-mask-size-ipv6': flag(INT32, 0, 'Mask of a Node’s IPv6 pod CIDR; 0 = 64'),
  'service-cluster-ip-range': flag(STRING, '', 'CIDRs of the Services, separated by a comma, which no Node gets'),
} satisfies FlagGroup;
