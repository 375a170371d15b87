import type { z } from 'zod';
import type { Family, Resource } from '../../api';
import type { AddressPool } from '../address-plan';
import type { Change, Entry, Resources, ResourceCollection } from '../entry';
import type { State } from '../state';

/** What rules may look at: the state as it is now, and the tier's addresses. */
export interface View {
  state: State;
  loadBalancerAddresses: Record<Family, AddressPool>;
  /** A family that the tier has no machines of is absent. */
  instanceAddresses: Partial<Record<Family, AddressPool>>;
  /** As in the topology. */
  noPassthrough?: string;
}

/** One thing that the data plane keeps: an instance or load balancer by id, or all routes. */
export type Part = { kind: 'instance' | 'loadbalancer'; id: string } | { kind: 'routes' };

/** What a write does besides its own resource, and what the data plane must look at again. */
export interface Effects {
  changes: Change[];
  parts: Part[];
}

/** What a spec makes: everything but the fields that each resource has. */
export interface Made<R extends Resource> {
  fields: Omit<R, keyof Resource>;
  /** Of its address in the tier's plan; absent where it has none of that. */
  index?: number;
}

/** What every spec has. */
export interface SpecBase {
  name: string;
  tags?: Resource['tags'] | undefined;
}

/** The rules of one collection: pure functions over the view. All of them throw ApiFailure for what they refuse. */
export interface CollectionRules<C extends ResourceCollection, Spec extends SpecBase = SpecBase> {
  readonly collection: C;
  readonly idPrefix: string;
  readonly createSchema: z.ZodType<Spec>;
  /** The fields that PATCH may replace; each is optional. */
  readonly patchSchema: z.ZodObject;
  create(spec: Spec, id: string, view: View): Made<Resources[C]>;
  /** Refuses a resource whose fields don't go together; called with the result of a create or an update. */
  check?(entry: Entry<Resources[C]>, view: View, before: Entry<Resources[C]> | undefined): void;
  /** Fields that follow from the changed ones of an update. */
  derive?(fields: Record<string, unknown>): Record<string, unknown>;
  /**
   * What else changes when `before` becomes `after`: a create has no `before`. A delete asks twice: with `after` in state deleting, and, once the
   * data plane has let go, without `after`.
   */
  effects(before: Entry<Resources[C]> | undefined, after: Entry<Resources[C]> | undefined, view: View): Effects;
  /** Who refers to it, in words; it can't be deleted then. */
  inUseBy?(entry: Entry<Resources[C]>, view: View): string | undefined;
}
