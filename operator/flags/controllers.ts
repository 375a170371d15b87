import { OperatorError } from '../base/errors';

/** A controller of the manager (contract 7.2). */
export interface KnownController {
  name: string;
  /** Its older name, which flags may say too, and metrics do. */
  alias: string;
  /** The ServiceAccount whose credentials it has with `--use-service-account-credentials`. */
  identity: string;
  /** Name of its work queue in the metrics (contract 7.7); absent = it has none. */
  queue?: string;
}

export const CONTROLLERS = [
  { name: 'cloud-node-controller', alias: 'cloud-node', identity: 'node-controller', queue: 'Nodes' },
  { name: 'cloud-node-lifecycle-controller', alias: 'cloud-node-lifecycle', identity: 'node-controller' },
  { name: 'service-lb-controller', alias: 'service', identity: 'service-controller', queue: 'service' },
  { name: 'node-route-controller', alias: 'route', identity: 'route-controller', queue: 'Routes' },
  { name: 'node-ipam-controller', alias: 'nodeipam', identity: 'node-controller', queue: 'cidrallocator_node' },
] as const satisfies KnownController[];

/** Where these ServiceAccounts are. */
export const ACCOUNT_NAMESPACE = 'kube-system';
export type LoopAccount = (typeof CONTROLLERS)[number]['identity'];
export const LOOP_ACCOUNTS: readonly LoopAccount[] = [...new Set(CONTROLLERS.map(({ identity }) => identity))];

export function accountOf(controller: ControllerName): LoopAccount | undefined {
  return CONTROLLERS.find(({ name }) => name === controller)?.identity;
}

export type ControllerName = (typeof CONTROLLERS)[number]['name'];
/** A controller with a work queue. */
export type QueuedController = Extract<(typeof CONTROLLERS)[number], { queue: string }>['name'];

export function queueOf(controller: QueuedController): string {
  return (CONTROLLERS.find(({ name }) => name === controller) as KnownController | undefined)?.queue ?? controller;
}

export const CONTROLLER_NAMES: readonly ControllerName[] = CONTROLLERS.map(({ name }) => name);

/**
 * Whether a list such as `*,-route` selects a name: the first exact match decides, else a `*` anywhere selects what is on by default
 * (contract 7.2).
 */
export function isSelected(name: string, list: readonly string[], offByDefault: readonly string[] = []): boolean {
  const match = list.find((entry) => entry === name || entry === `-${name}`);
  if (match !== undefined) return match === name;
  return list.includes('*') && !offByDefault.includes(name);
}

/** The list with aliases replaced by names, also behind a dash. */
export function withoutAliases(list: readonly string[], known: readonly Pick<KnownController, 'name' | 'alias'>[] = CONTROLLERS): string[] {
  const nameOf = (word: string): string => known.find(({ alias }) => alias === word)?.name ?? word;
  return list.map((entry) => (entry.startsWith('-') ? `-${nameOf(entry.slice(1))}` : nameOf(entry)));
}

/** One error for every entry that names nothing. */
export function unknownNames(list: readonly string[], known: readonly string[], what: 'controllers' | 'webhooks'): OperatorError[] {
  return list
    .filter((entry) => entry !== '*')
    .map((entry) => entry.replace(/^-/, ''))
    .filter((name) => !known.includes(name))
    .map((name) => new OperatorError('Invalid', `${JSON.stringify(name)} is not in the list of known ${what}`));
}

/** The controllers that `--controllers` selects. */
export function selectedControllers(list: readonly string[]): ReadonlySet<ControllerName> {
  const names = withoutAliases(list);
  return new Set(CONTROLLER_NAMES.filter((name) => isSelected(name, names)));
}
