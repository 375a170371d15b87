import { isDeepStrictEqual } from 'node:util';
import { FIELD_MANAGERS, CLOUD_ROUTES } from '../../../crds';
import { inChange, newChangeID } from '../../base/change';
import type { ChangeBook } from '../../base/change-book';
import type { Clock } from '../../base/clock';
import { toOperatorError } from '../../base/errors';
import { formatGoDuration } from '../../base/go-duration';
import type { Logger } from '../../base/log';
import { traced } from '../../base/tracing';
import type { EventRecorder, KubeApi, Store, StoreChange, WorkQueue } from '../../kube/api';
import { type Node, NODES } from '../../kube/object';
import type { Cidr } from '../cidr';
import type { Clouds } from '../clouds';
import { deleteObject } from '../deletion';
import type { StoredCloudRoute } from '../kinds';
import { nodeOf, routeName } from './cloud-route';
import { type Action, evaluate, type Gathered } from './evaluate';
import { parseClusterCidrs } from './responsibility';

/** Index that the store of CloudRoutes must have: by the Node whose routes they are. */
export const ROUTES_BY_NODE = 'nodeName';
export const ROUTE_INDEXES = { [ROUTES_BY_NODE]: (route: StoredCloudRoute): string[] => [nodeOf(route)] };

export interface RouteLoopMetrics {
  /** `changed`: at least one CloudRoute was written or deleted. */
  routesSynced(outcome: 'changed' | 'noop' | 'error'): void;
}

export interface RouteLoopDependencies {
  api: KubeApi;
  nodes: Store<Node>;
  /** With ROUTE_INDEXES. */
  cloudRoutes: Store<StoredCloudRoute>;
  clouds: Clouds;
  /** Told of a Node's name when a listing has said whose it is: nothing on the Node says so. */
  owners: { onChange(listener: (nodeName: string) => void): () => void };
  /** With the source component `route_controller`. */
  events: EventRecorder;
  queue: WorkQueue;
  /** Told which of the loop's changes is behind a CloudRoute; absent = nobody is. */
  changes?: ChangeBook;
  metrics: RouteLoopMetrics;
  clock: Clock;
  logger: Logger;
  /** `--cluster-cidr`; empty = every PodCIDR gets a route. */
  clusterCidrs: readonly string[];
  workers: number;
}

/** The route loop: one CloudRoute for each PodCIDR of a Node, and the Node's condition NetworkUnavailable (contract 5). */
export class RouteLoop {
  private readonly clusterCidrs: readonly Cidr[];
  /** By CloudRoute name: since when it is being made, and the last failure that was said. */
  private readonly attempts = new Map<string, { nodeUID: string; since: number; said?: string }>();

  /** @throws OperatorError Invalid on cluster CIDRs that can't be */
  constructor(private readonly dependencies: RouteLoopDependencies) {
    this.clusterCidrs = parseClusterCidrs(dependencies.clusterCidrs);
  }

  /** Runs until the signal is aborted. Nothing is decided before both stores have synced. */
  async run(signal: AbortSignal): Promise<void> {
    const { nodes, cloudRoutes, owners, queue, workers } = this.dependencies;
    const unsubscribe = [
      nodes.onChange((change) => this.onNode(change)),
      cloudRoutes.onChange(({ previous, current }) => {
        for (const route of [previous, current]) if (route !== undefined) queue.add(nodeOf(route));
      }),
      owners.onChange((nodeName) => queue.add(nodeName)),
    ];
    try {
      await Promise.all([nodes.whenSynced(signal), cloudRoutes.whenSynced(signal)]);
      this.requeueAll();
      await queue.run(workers, (key) => this.sync(key), signal);
    } finally {
      unsubscribe.forEach((stop) => stop());
    }
  }

  /** Looks at every Node again, after those that have just changed: for when the CloudProviders have changed. */
  requeueAll(): void {
    const { nodes, cloudRoutes, queue } = this.dependencies;
    for (const node of nodes.list()) queue.add(node.metadata.name, 'Low');
    for (const route of cloudRoutes.list()) queue.add(nodeOf(route), 'Low');
  }

  /** One pass over one Node's routes; public for tests that need no queue. */
  sync(nodeName: string): Promise<void> {
    return inChange({ id: newChangeID(), object: `Node ${nodeName}` }, () =>
      traced('routes of node', {}, async (span) => {
        if (!(await this.pass(nodeName))) span.drop();
      }),
    );
  }

  /** @returns whether anything was done */
  private async pass(nodeName: string): Promise<boolean> {
    const gathered = this.gather(nodeName);
    const { actions, failures } = evaluate(gathered);
    const { node } = gathered;
    if (node !== undefined) for (const { cidr, message } of failures) this.fail(node, cidr, message);
    await this.actAll(gathered, actions);
    this.forget(gathered, failures);
    return actions.length > 0;
  }

  private async actAll(gathered: Gathered, actions: readonly Action[]): Promise<void> {
    const { metrics } = this.dependencies;
    try {
      for (const action of actions) await this.act(gathered, action);
    } catch (thrown) {
      metrics.routesSynced('error');
      throw thrown;
    }
    metrics.routesSynced(actions.some(({ kind }) => kind !== 'PatchStatus') ? 'changed' : 'noop');
  }

  private gather(nodeName: string): Gathered {
    const { nodes, cloudRoutes, clouds, clock } = this.dependencies;
    const node = nodes.get(nodeName);
    const named = (node?.spec.podCIDRs ?? []).map((cidr) => cloudRoutes.get(routeName(nodeName, cidr)));
    const routes = new Set([...cloudRoutes.byIndex(ROUTES_BY_NODE, nodeName), ...named.filter((route) => route !== undefined)]);
    const provider = node === undefined ? undefined : this.providerOf(node);
    return {
      node,
      routes: [...routes],
      provider: provider !== undefined && clouds.supports(provider, 'routes') && !clouds.observes(provider) ? provider : undefined,
      clusterCidrs: this.clusterCidrs,
      now: new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z'),
    };
  }

  private providerOf({ metadata, spec }: Node): string | undefined {
    const claim = { name: metadata.name, labels: metadata.labels ?? {} };
    return this.dependencies.clouds.forNode(spec.providerID === undefined ? claim : { ...claim, providerID: spec.providerID });
  }

  private async act({ node }: Gathered, action: Action): Promise<void> {
    const { api } = this.dependencies;
    switch (action.kind) {
      case 'Apply': {
        const { name } = action.body.metadata;
        if (node !== undefined) this.begin(node, name);
        this.dependencies.changes?.note(`CloudRoute/${name}`);
        try {
          await api.apply(CLOUD_ROUTES, name, action.body, { fieldManager: FIELD_MANAGERS.route, force: true });
        } catch (thrown) {
          if (node !== undefined) this.fail(node, action.body.spec.destinationCIDR, toOperatorError(thrown).message);
          throw thrown;
        }
        return;
      }
      case 'Delete':
        return deleteObject(api, CLOUD_ROUTES, action.name, action.uid);
      case 'PatchStatus':
        if (node !== undefined)
          await api.patch(NODES, node.metadata.name, 'strategic', action.patch, {
            subresource: 'status',
            fieldManager: FIELD_MANAGERS.route,
          });
    }
  }

  private begin(node: Node, name: string): void {
    const known = this.attempts.get(name);
    if (known?.nodeUID === node.metadata.uid) return;
    this.attempts.set(name, { nodeUID: node.metadata.uid, since: this.dependencies.clock.monotonic() });
  }

  /** Contract 5.4; a failure is told once per distinct message, not in every period. */
  private fail(node: Node, cidr: string, message: string): void {
    const { events, clock } = this.dependencies;
    const { name, uid } = node.metadata;
    const route = routeName(name, cidr);
    this.begin(node, route);
    const attempt = this.attempts.get(route);
    if (attempt === undefined || attempt.said === message) return;
    attempt.said = message;
    const took = formatGoDuration(Math.round(clock.monotonic() - attempt.since));
    events.event(
      node,
      'Warning',
      'FailedToCreateRoute',
      `Could not create route ${uid} ${cidr} for node ${name} after ${took}: ${message}`,
    );
  }

  /** What was said counts until the route is right again. */
  private forget({ node, routes }: Gathered, failures: readonly { cidr: string }[]): void {
    if (node === undefined) return routes.forEach(({ metadata }) => this.attempts.delete(metadata.name));
    const failing = new Set(failures.map(({ cidr }) => cidr));
    for (const { metadata, spec, status } of routes) {
      const ready = status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;
      if (ready && !failing.has(spec.destinationCIDR)) this.attempts.delete(metadata.name);
    }
  }

  /** Heartbeats change nothing that a route depends on. */
  private onNode({ key, previous, current }: StoreChange<Node>): void {
    if (previous === undefined || current === undefined || !isDeepStrictEqual(relevant(previous), relevant(current))) {
      this.dependencies.queue.add(key);
    }
  }
}

function relevant({ metadata, spec, status }: Node): object {
  return {
    uid: metadata.uid,
    labels: metadata.labels,
    podCIDRs: spec.podCIDRs,
    providerID: spec.providerID,
    addresses: status?.addresses,
    network: status?.conditions?.find(({ type }) => type === 'NetworkUnavailable'),
  };
}
