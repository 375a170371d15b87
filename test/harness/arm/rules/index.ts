import type { Rule } from '../rule';
import { dnsLabelOnce, matchingSKU, privateAddress, publicAddressLimit, publicAddressOnce, subnetRoom } from './addresses';
import { frontendInUse, inUse, subnetInUse } from './in-use';
import {
  allPortsInternally,
  loadBalancerLimits,
  oneRuleForEachBackendPort,
  oneRuleForEachPort,
  partNames,
  probeValues,
  ruleValues,
} from './load-balancers';
import { approvedSee, connectionsFirst, frontendOnce, frontendStays, networkPolicies, poolsOfInterfaces } from './private-link';
import { referencesExist, referencesProvisioned } from './references';
import { destinationOnce, nextHop, routeLimit } from './route-tables';
import {
  anotherOperation,
  apiVersion,
  immutable,
  lock,
  patchSetsTags,
  permission,
  policy,
  precondition,
  resourceGroup,
  tagNames,
  zonesStay,
} from './scope';
import { priorityOnce, priorityRange, ruleForm, securityGroupLimits, sourceRanges } from './security-groups';

/** Everything that a write must get past, in the order in which Azure looks: what holds for all types first. */
export const RULES: readonly Rule[] = [
  apiVersion,
  resourceGroup,
  permission,
  lock,
  policy,
  anotherOperation,
  precondition,
  patchSetsTags,
  immutable,
  zonesStay,
  tagNames,
  partNames,
  referencesExist,
  referencesProvisioned,
  inUse,
  subnetInUse,
  frontendInUse,
  publicAddressLimit,
  matchingSKU,
  publicAddressOnce,
  dnsLabelOnce,
  privateAddress,
  subnetRoom,
  ruleValues,
  allPortsInternally,
  probeValues,
  oneRuleForEachPort,
  oneRuleForEachBackendPort,
  loadBalancerLimits,
  priorityRange,
  priorityOnce,
  ruleForm,
  sourceRanges,
  securityGroupLimits,
  nextHop,
  destinationOnce,
  routeLimit,
  connectionsFirst,
  networkPolicies,
  frontendOnce,
  frontendStays,
  poolsOfInterfaces,
  approvedSee,
];
