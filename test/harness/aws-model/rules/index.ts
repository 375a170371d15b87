import type { Rule } from '../rule';
import { alpnPolicies } from './alpn-policies';
import { capacityReservations } from './capacity';
import { listenerCertificates } from './certificates';
import { subnetsOfClassic } from './classic-subnets';
import { deletionProtection } from './deletion-protection';
import { duplicateListener, incompatibleProtocols } from './listeners';
import { duplicateLoadBalancerName, nameLengths } from './names';
import { privateLinkRules } from './private-link';
import { blackholeRoutes, routeAlreadyExists } from './routes';
import { groupOfAnotherVpc, rulesOfGroups } from './group-rules';
import { groupInUse } from './security-groups';
import { servedGroups } from './served-groups';
import { ipv6SourceNat } from './source-nat';
import { secondaryAddresses } from './secondary-addresses';
import { subnetAddresses } from './subnet-addresses';
import { subnetRanges } from './subnet-ranges';
import { oneClassicAtATime } from './tags';
import { drainingOfUnhealthy, paceOfChecks, protocolOfChecks, stickinessOfTLS } from './target-groups';
import { deregisterUnknownTarget, registerUnknownInstance } from './targets';

/** The rules that always hold. Time, throttling and lag are rules of their own, for tests that ask for them. */
export function alwaysRules(): Rule[] {
  return [
    nameLengths(),
    duplicateLoadBalancerName(),
    deletionProtection(),
    capacityReservations(),
    ipv6SourceNat(),
    duplicateListener(),
    incompatibleProtocols(),
    listenerCertificates(),
    alpnPolicies(),
    privateLinkRules(),
    servedGroups(),
    subnetAddresses(),
    groupInUse(),
    rulesOfGroups(),
    groupOfAnotherVpc(),
    registerUnknownInstance(),
    deregisterUnknownTarget(),
    routeAlreadyExists(),
    blackholeRoutes(),
    oneClassicAtATime(),
    subnetsOfClassic(),
    secondaryAddresses(),
    paceOfChecks(),
    protocolOfChecks(),
    stickinessOfTLS(),
    drainingOfUnhealthy(),
    subnetRanges(),
  ];
}
