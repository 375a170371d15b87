/** Under what the phases run. */
export interface Variant {
  name: string;
  /** In words, for the help and the report. */
  title: string;
  /** Whether the Nodes' security group is written to, as each does it by default. */
  nodeRules: boolean;
  /** What every call takes longer, in milliseconds. */
  latencyMs: number;
  /** Calls per second that the account gets, and at once after a pause; absent = any number. */
  limit?: { perSecond: number; burst: number };
}

const OFF = { nodeRules: false, latencyMs: 0 };

export const VARIANTS: readonly Variant[] = [
  { ...OFF, name: 'no-node-rules', title: 'node rules off (DisableSecurityGroupIngress)' },
  { name: 'defaults', title: 'defaults: each writes its rules into the Nodes’ security group', nodeRules: true, latencyMs: 0 },
  { ...OFF, name: 'latency', title: 'node rules off, and each call takes 100 ms longer', latencyMs: 100 },
  { ...OFF, name: 'throttled', title: 'node rules off, and the account gets 10 calls per second', limit: { perSecond: 10, burst: 10 } },
];
