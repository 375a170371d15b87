import type { z } from 'zod';
import type { JsonObject } from '../../../operator/base/json';
import type { CallOptions } from '../../client-options';
import type { ClassicElb } from '../client/classic-elb';
import type { Ec2 } from '../client/ec2';
import type { ElbV2 } from '../client/elbv2';
import type { Tags } from '../tags';

/** What a resource type works with: the APIs, and what holds for each call of one operation. */
export interface Api {
  ec2: Ec2;
  elb: ElbV2;
  /** Classic load balancers. */
  classic: ClassicElb;
  options: CallOptions;
}

/** Properties that every resource of a program has beside its own. */
export interface CommonInputs {
  /** With our marks in them (tags.ts). */
  tags: Record<string, string>;
}

/** What a create made. */
export interface Made {
  id: string;
  /** What AWS adds: outputs that are no inputs. */
  observed: JsonObject;
  /** AWS says by its answer that it was there before, and gives it in place of a new one. */
  existed?: boolean;
}

/** A resource as a listing gives it, with its tags. */
export interface Listed<Raw> {
  id: string;
  tags: Tags;
  raw: Raw;
}

/** A resource as it is in AWS, in a program's terms. */
export interface Described {
  /** The inputs that would give what is there, tags included. */
  inputs: JsonObject;
  observed: JsonObject;
}

/** One official resource type: how its inputs and AWS's API map onto each other. */
export interface ResourceDescription<Inputs extends CommonInputs = CommonInputs, Raw = unknown> {
  /** The official one, for example `aws:lb/loadBalancer:LoadBalancer`. */
  readonly token: string;
  /** Properties that AWS can't change in place. */
  readonly replaceOn: readonly string[];
  /** Those that something made without them can never get, and the other way round. */
  readonly replaceOnPresence?: readonly string[];
  /** Figures that AWS lets grow and never lets become less: the greater one stays. */
  readonly growOnly?: readonly string[];
  /** True: where it stands in the place that another resource of its stack asks for, that one takes it over; its own is gone by that. */
  readonly movable?: true;
  /** The properties that are served; others are refused. */
  readonly schema: z.ZodType<Inputs>;
  /** Makes it whole, without a look at what is there. */
  create(inputs: Inputs, api: Api): Promise<Made>;
  /** What stands in the way of a create: it has the name or the place that `inputs` ask for. */
  find(inputs: Inputs, api: Api): Promise<Listed<Raw> | undefined>;
  byID(id: string, api: Api): Promise<Listed<Raw> | undefined>;
  /** Its tags alone, where that is a call less; undefined = it is gone. */
  tagsOf?(id: string, api: Api): Promise<Tags | undefined>;
  /** Reads what the listing does not give. */
  describe(listed: Listed<Raw>, api: Api): Promise<Described>;
  /**
   * Brings everything that can be changed in place to `wanted`, by what differs from `has`. The tags first: what was taken over may be changed by the
   * IAM policy once it bears our mark.
   */
  change(id: string, has: Inputs, wanted: Inputs, api: Api): Promise<void>;
  remove(id: string, api: Api): Promise<void>;
  /** AWS has it in use for minutes after what used it has gone: who deletes it comes back later, and holds up nobody meanwhile. */
  inUseForMinutes?: true;
  /** What `inputs` ask for that only one can have, in words, for a create that AWS refuses because another one has it; absent, or undefined = nothing. */
  onlyOnce?(inputs: Inputs): string | undefined;
  /** Why AWS refuses to remove it as being in use, and what to do about that; absent, or undefined = AWS's own words are all that is known. */
  inUseBy?(id: string, api: Api): Promise<{ why: string; remedy: string } | undefined>;
}
