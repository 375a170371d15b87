import type { Logger } from '../../../../../operator/base/log';
import type { Instance, Route, TargetPool } from '../../../api';
import type { LoadBalancerPlan } from '../../data-plane';

/** The tiers whose packets the kernel moves. */
export type VpcTier = 'vpc-root' | 'vpc-userns' | 'netns';

/** Given to the agent as its only argument, in JSON. */
export interface AgentConfig {
  id: string;
  /** The cloud's number: its address plan. */
  number: number;
  tier: VpcTier;
  /** For the tier netns. */
  namespace?: string;
  directory: string;
  logLevel: string;
}

/** What the agent does, by name: parameter and result. */
export interface AgentCalls {
  applyInstance: { params: Instance; result: { netns?: string; socket?: string } };
  removeInstance: { params: string; result: undefined };
  applyLoadBalancer: { params: LoadBalancerPlan; result: { listener: string; ip: string; port: number; protocol: 'TCP' | 'UDP' }[] };
  removeLoadBalancer: { params: string; result: undefined };
  applyRoutes: { params: Route[]; result: undefined };
  breakRoute: { params: string; result: undefined };
  health: { params: undefined; result: [string, TargetPool['health']][] };
}

export type AgentMethod = keyof AgentCalls;

/** One line of JSON on the agent's standard input. Its end means that the cloud has ended. */
export interface AgentRequest {
  id: number;
  method: AgentMethod;
  params: unknown;
}

/** One line of JSON on the agent's standard output. */
export type AgentMessage =
  | { kind: 'ready' }
  | { kind: 'result'; id: number; result: unknown }
  | { kind: 'error'; id: number; code: string; message: string }
  | { kind: 'log'; level: LogLevel; fields: Record<string, unknown>; message: string };

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/** Name of a level in pino's numbers. */
export function levelName(logger: Logger, level: number): LogLevel {
  return (logger.levels.labels[level] ?? 'info') as LogLevel;
}
