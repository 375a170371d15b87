import type { CloudLoadBalancerSpec, Ingress } from '../crds';
import type { JsonObject } from '../operator/base/json';

/*
 * What an extension in code can do (docs/extend.md). A module given by `cloud-operator run --extension MODULE` imports this file under the
 * name `cloud-operator/extensions`, wherever the module itself is: the workers resolve that name, and `@pulumi/pulumi`, to their own copies.
 */

/** A CloudLoadBalancer, as an extension sees it. */
export interface LoadBalancer {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly spec: CloudLoadBalancerSpec;
}

/** A CloudLoadBalancer that is in the cloud. */
export interface PublishedLoadBalancer extends LoadBalancer {
  /** Where clients reach it, as in its status; never empty. */
  readonly ingress: readonly Ingress[];
}

/** A resource that the provider's program is about to register. */
export interface TransformedResource {
  /** Pulumi type token, for example `local:index:TargetPool`. */
  readonly type: string;
  /** Name in the program: with the type, the end of the URN. */
  readonly name: string;
  /** Arguments, yours to change. A value may be an Output of another resource. */
  readonly args: Record<string, unknown>;
  /** The load balancers that the resource serves: one, or several where they share it. */
  readonly loadBalancers: readonly LoadBalancer[];
  /**
   * Refuses the load balancer as it is: nothing of its new version is written to the cloud, and its condition Stalled says why.
   * @param message what is wrong, and what to write instead
   */
  readonly refuse: (message: string) => never;
}

/** What the load balancers' own stack published. */
export interface StackOutputs {
  /** Name of that stack. The extra one has the same name with `-extra` at its end. */
  readonly stack: string;
  readonly loadBalancers: readonly PublishedLoadBalancer[];
  /** The outputs of the provider's program as they are, for what `ingress` does not tell. */
  readonly outputs: JsonObject;
}

/** What the module exports: one of the two functions or both, by name or as one default export. */
export interface Extension {
  /**
   * Called for every resource of a load balancer's stack before it is registered. Must be quick (a second at most), must not be async, and
   * must give the same answer for the same question: its results decide what the cloud is.
   * @returns the arguments to use; nothing = `args` as they are now, with what was changed in them
   * @throws to stall the load balancer with the stack trace in its condition; `refuse` for a message without one
   */
  transform?: (resource: TransformedResource) => Record<string, unknown> | undefined | void;
  /**
   * The Pulumi program of a second stack, which belongs to the load balancers of the first: a DNS record, a bucket. Runs after the first one has
   * succeeded, and again when its outputs or the load balancers change. A failure is a warning on the load balancers, which stay as they are.
   * @returns outputs of the second stack, or nothing
   */
  extra?: (outputs: StackOutputs) => Record<string, unknown> | undefined | void | Promise<Record<string, unknown> | undefined | void>;
}

/** Gives the extension back; for the types of its functions' parameters. */
export function defineExtension(extension: Extension): Extension {
  return extension;
}
