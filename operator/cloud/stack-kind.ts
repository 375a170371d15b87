import type { CloudStackSpec, Condition } from '../../crds';
import type { JsonObject, Problem } from '../../providers/provider';
import type { KubeObject } from '../kube/object';
import type { StackState, UpdateResult } from '../updates/update';
import type { Verdict } from './conditions';
import type { ConnectedCloud, RegisteredCloud } from './registry';

/** An object that stacks carry. */
export type Member = KubeObject & {
  spec: { provider: string };
  status?: { observedGeneration?: number | undefined; conditions?: Condition[] | undefined };
};

/** What a status says besides its conditions. */
export type StatusFields = Record<string, unknown>;

/** What differs between stacks of load balancers and stacks of routes. */
export interface StackKind<O extends Member> {
  readonly kind: CloudStackSpec['kind'];
  /** Name of the stack that carries the object; undefined while its provider is unknown. */
  stackOf(object: O, cloud: RegisteredCloud | undefined): string | undefined;
  /** What policy and provider have against it. Pure. */
  problems(object: O, cloud: ConnectedCloud): Problem[];
  /** The program's inputs. Pure. */
  render(stack: string, objects: O[], cloud: ConnectedCloud): JsonObject;
  /** After the cloud is as the program says: what is left to do for one object, and what its status says then. */
  settle(object: O, cloud: ConnectedCloud, result: UpdateResult): Promise<{ fields: StatusFields; verdict: Verdict }>;
  /** The part of the object's status that stays true while work goes on or fails. */
  keptFields(object: O, known: Knowledge): StatusFields;
  /** Its earlier version works in the cloud. */
  serving(object: O, known: Knowledge): boolean;
}

/** What is known of a stack without asking the cloud: its stored state is believed, a status is not. */
export interface Knowledge {
  /** Absent while the provider is not connected. */
  cloud?: ConnectedCloud | undefined;
  /** Absent while the stack was never updated. */
  state?: Pick<StackState, 'outputs' | 'incarnation'> | undefined;
}
