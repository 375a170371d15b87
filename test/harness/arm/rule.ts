import type { Answer, ArmRequest } from './request';
import type { Resource } from './resource';

/** A write before it is carried out: `before` is what is there, `after` what will be; absent = nothing. */
export interface Write {
  request: ArmRequest;
  /** Of the whole resource. */
  id: string;
  type: string;
  before?: Resource;
  after?: Resource;
}

/** What rules may look at. */
export interface CloudView {
  find(id: string): Resource | undefined;
  all(): Resource[];
  /** Who names the resource, or a part of it: ids of resources or parts of other resources. */
  usersOf(id: string): string[];
  /** `ReadOnly` or `CanNotDelete`, by the resource group in lower case. */
  locks: Map<string, 'ReadOnly' | 'CanNotDelete'>;
  /** Names of policies that deny a type, by the type in lower case. */
  policies: Map<string, string>;
  /** An action that the caller may not do, such as `Microsoft.Network/publicIPAddresses/write`, by the resource group in lower case. */
  forbidden: Map<string, string>;
  /** Resources, by their ids in lower case, to which something else happens: how many more writes are refused, and after how many seconds to come again. */
  busy: Map<string, { times: number; retryAfterS: number }>;
  resourceGroups: Set<string>;
  limits: CloudLimits;
}

/** Limits of a subscription (learn.microsoft.com, "Azure subscription and service limits, quotas, and constraints"). */
export interface CloudLimits {
  rulesPerLoadBalancer: number;
  frontendsPerLoadBalancer: number;
  rulesPerSecurityGroup: number;
  /** Addresses in the sources, and in the destinations, of all rules of a group. */
  addressesPerSecurityGroup: number;
  routesPerTable: number;
  publicAddresses: number;
}

/** One rule of Azure's: what it gives is the answer; undefined = it has nothing against the write. */
export type Rule = (write: Write, cloud: CloudView) => Answer | undefined;
