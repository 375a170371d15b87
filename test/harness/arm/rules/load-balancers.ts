import type { JsonObject } from '../../../../operator/base/json';
import { refusal, type Answer } from '../request';
import { partListsOf, partsIn, type Part } from '../resource';
import type { Rule, Write } from '../rule';

interface LoadBalancingRule {
  protocol: string;
  frontendPort: number;
  backendPort: number;
  enableFloatingIP?: boolean;
  idleTimeoutInMinutes?: number;
  frontendIPConfiguration: { id: string };
  backendAddressPool?: { id: string };
  probe?: { id: string };
}

/** Parts of one resource have different names, of 80 characters at most (learn.microsoft.com, "Naming rules and restrictions"). */
export const partNames: Rule = ({ after }) => {
  for (const list of partListsOf(after?.type ?? '')) {
    const names = partsIn(after, list).map(({ name }) => name);
    const bad = names.find((name) => !/^[A-Za-z0-9]([\w.-]{0,78}\w)?$/.test(name));
    if (bad !== undefined) return refusal(400, 'InvalidResourceName', `Resource name ${bad} is invalid.`);
    const same = names.map((name) => name.toLowerCase());
    const twice = same.find((name, index) => same.indexOf(name) !== index);
    if (twice === undefined) continue;
    return refusal(400, 'InvalidRequestFormat', `Cannot parse the request: ${list} has several elements named ${twice}.`);
  }
  return undefined;
};

/** One rule for a frontend, protocol and port; one for all ports stands alone. */
export const oneRuleForEachPort: Rule = (write) =>
  pairs(write, (one, other) => {
    if (one.frontendIPConfiguration.id !== other.frontendIPConfiguration.id || !meet(one, other)) return undefined;
    const text = `two rules have frontend port ${one.frontendPort} and protocol ${one.protocol} of one frontend`;
    return refusal(400, 'LoadBalancerRulesWithSameFrontendPortAndProtocol', text);
  });

/**
 * Without floating IP a Node can't tell two rules of one backend port apart: RulesUseSameBackendPortProtocolAndPool; with it two of one frontend
 * (kubernetes-sigs/cloud-provider-azure#521).
 */
export const oneRuleForEachBackendPort: Rule = (write) =>
  pairs(write, (one, other) => {
    const samePool = one.backendAddressPool?.id === other.backendAddressPool?.id;
    if (!samePool || one.protocol !== other.protocol || one.backendPort !== other.backendPort) return undefined;
    const [floating, alsoFloating] = [one.enableFloatingIP === true, other.enableFloatingIP === true];
    if (floating !== alsoFloating) return undefined;
    const what = `use the same protocol ${one.protocol} and backend port ${one.backendPort}`;
    if (!floating) {
      return refusal(
        400,
        'RulesUseSameBackendPortProtocolAndPool',
        `Load balancing rules with floating IP disabled ${what}, and must not be used with the same backend address pool.`,
      );
    }
    if (one.frontendIPConfiguration.id !== other.frontendIPConfiguration.id) return undefined;
    return refusal(
      400,
      'RulesUseSameBackendPortProtocolAndPoolAndFrontendIPWithFloatingIPEnabled',
      `Load balancing rules with floating IP enabled ${what}.`,
    );
  });

/** Ranges of single values (learn.microsoft.com, "Load Balancers - Create Or Update", "Azure Load Balancer TCP Reset and idle timeout"). */
export const ruleValues: Rule = ({ after }) => {
  for (const { name, protocol, frontendPort, backendPort, idleTimeoutInMinutes: idle = 4 } of rulesOf(after)) {
    if (!['Tcp', 'Udp', 'All'].includes(protocol)) return invalid(name, 'protocol', protocol);
    const ports = [frontendPort, backendPort];
    if (!ports.every((port) => (protocol === 'All' ? port === 0 : isPort(port)))) return invalid(name, 'frontendPort', frontendPort);
    if (idle < 4 || idle > 100) return invalid(name, 'idleTimeoutInMinutes', idle);
  }
  return undefined;
};

/** Rules for all ports are for internal load balancers (learn.microsoft.com, "High availability ports overview"). */
export const allPortsInternally: Rule = ({ after }) => {
  const all = rulesOf(after).filter(({ protocol }) => protocol === 'All');
  const bad = all.find((rule) => frontendOf(after, rule)?.properties.publicIPAddress !== undefined);
  if (bad === undefined) return undefined;
  return refusal(400, 'HAPortsNotAllowedOnPublicLoadBalancer', `Rule ${bad.name}: all ports are for internal load balancers.`);
};

/** Of probes: an interval of 5 seconds or more, HTTP and HTTPS with a path, TCP without. */
export const probeValues: Rule = ({ after }) => {
  for (const { name, properties } of partsIn(after, 'probes')) {
    const {
      protocol,
      port,
      intervalInSeconds: interval = 15,
      requestPath: path,
      probeThreshold = 1,
    } = properties as JsonObject & {
      protocol: string;
      port: number;
      intervalInSeconds?: number;
      requestPath?: string;
      probeThreshold?: number;
    };
    if (!['Tcp', 'Http', 'Https'].includes(protocol)) return invalid(name, 'protocol', protocol);
    if (!isPort(port)) return invalid(name, 'port', port);
    if (interval < 5) return invalid(name, 'intervalInSeconds', interval);
    if (probeThreshold < 1 || probeThreshold > 100) return invalid(name, 'probeThreshold', probeThreshold);
    if ((protocol === 'Tcp') !== (path === undefined)) return invalid(name, 'requestPath', path ?? '');
  }
  return undefined;
};

/** How many rules and frontends a load balancer may have. */
export const loadBalancerLimits: Rule = ({ after }, { limits }) => {
  const rules = ['loadBalancingRules', 'outboundRules', 'inboundNatRules'].flatMap((list) => partsIn(after, list)).length;
  if (rules > limits.rulesPerLoadBalancer) return tooMany('LoadBalancerRuleCountLimitReached', 'rules', limits.rulesPerLoadBalancer);
  const frontends = partsIn(after, 'frontendIPConfigurations').length;
  if (frontends <= limits.frontendsPerLoadBalancer) return undefined;
  return tooMany('FrontendIPConfigurationCountLimitReached', 'frontend IP configurations', limits.frontendsPerLoadBalancer);
};

type NamedRule = LoadBalancingRule & { name: string };

function rulesOf(after: Write['after']): NamedRule[] {
  return partsIn(after, 'loadBalancingRules').map(({ name, properties }) => ({ name, ...(properties as unknown as LoadBalancingRule) }));
}

function frontendOf(after: Write['after'], rule: LoadBalancingRule): Part | undefined {
  return partsIn(after, 'frontendIPConfigurations').find(({ id }) => id.toLowerCase() === rule.frontendIPConfiguration.id.toLowerCase());
}

/** The first pair of rules that can't stand beside each other. */
function pairs({ after }: Write, refuse: (one: NamedRule, other: NamedRule) => Answer | undefined): Answer | undefined {
  const rules = rulesOf(after);
  for (const [index, one] of rules.entries()) {
    for (const other of rules.slice(index + 1)) {
      const answer = refuse(one, other);
      if (answer !== undefined) return answer;
    }
  }
  return undefined;
}

function meet(one: LoadBalancingRule, other: LoadBalancingRule): boolean {
  if (one.protocol === 'All' || other.protocol === 'All') return true;
  return one.protocol === other.protocol && one.frontendPort === other.frontendPort;
}

function invalid(name: string, property: string, value: string | number): Answer {
  return refusal(400, 'InvalidRequestFormat', `${name}: the value '${value}' of ${property} is not allowed.`);
}

function tooMany(code: string, what: string, most: number): Answer {
  return refusal(400, code, `Cannot create more than ${most} ${what} on one load balancer.`);
}

function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= 65534;
}
