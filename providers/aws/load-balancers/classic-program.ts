import { ListenerPolicy } from '@pulumi/aws/elb/listenerPolicy';
import { LoadBalancer } from '@pulumi/aws/elb/loadBalancer';
import { LoadBalancerBackendServerPolicy } from '@pulumi/aws/elb/loadBalancerBackendServerPolicy';
import { LoadBalancerPolicy } from '@pulumi/aws/elb/loadBalancerPolicy';
import * as pulumi from '@pulumi/pulumi';
import type { RenderedClassic } from './classic';
import { backendName, listenerName, policyName, PROXY_POLICY, tlsPolicyName } from './classic-names';
import { declareAccess } from './access-program';
import { MembersReady, Subnets, type Published, type TagsOf } from './program-parts';
import { leastInstancePort } from '../resources/classic-load-balancer';
import { REFERENCE, triggersOf } from '../resources/classic-policy';
import { TAG } from '../tags';

/** A load balancer with its policies; all of its listeners share one set of instances, which goes by the load balancer's name. */
export function declareClassic({ uid, name, settings, subnets, tags, vpcID, nodeLabels, ...input }: RenderedClassic): Published {
  const tagsOf: TagsOf = (resource) => ({ ...tags, [TAG.resource]: resource });
  const access = declareAccess({ ...input, vpcID }, [], tagsOf, input.additionalGroupIDs);
  const securityGroups = access.groups ?? [];
  const chosen = Array.isArray(subnets) ? subnets : new Subnets(subnets.name, subnets.settings).subnetIds.apply((ids) => [...ids].sort());
  const args = { ...settings, name, subnets: chosen, securityGroups, tags: tagsOf(name) };
  const loadBalancer = new LoadBalancer(name, args, access.rules === undefined ? {} : { dependsOn: [access.rules] });
  if (input.proxyProtocol === true) declareProxyProtocol(name, settings, loadBalancer);
  if (input.tlsPolicy !== undefined) declareTLSPolicy(name, input.tlsPolicy, settings, loadBalancer);
  const port = leastInstancePort(settings.listeners);
  const opens = access.accessOf(settings.listeners.map(({ instancePort }) => instancePort));
  const members = { port, ...(nodeLabels !== undefined && { nodeLabels }), ...(opens !== undefined && { access: opens }) };
  access.close([loadBalancer]);
  const { group } = new MembersReady(name, { group: loadBalancer.id, ...members }, {});
  // who sends traffic to the name finds Nodes behind it
  const hostname = pulumi.all([loadBalancer.dnsName, group]).apply(([dnsName]) => dnsName);
  return { uid, retiring: input.retiring === true, hostname, targetGroups: [{ id: loadBalancer.id, ...members }] };
}

function declareProxyProtocol(name: string, { listeners }: RenderedClassic['settings'], loadBalancer: LoadBalancer): void {
  const [loadBalancerName, deletedWith] = [loadBalancer.id, loadBalancer];
  const attributes = [{ name: 'ProxyProtocol', value: 'true' }];
  const { policyName: made } = new LoadBalancerPolicy(
    policyName(name, PROXY_POLICY),
    { loadBalancerName, policyName: PROXY_POLICY, policyTypeName: 'ProxyProtocolPolicyType', policyAttributes: attributes },
    { deletedWith },
  );
  for (const instancePort of new Set(listeners.map((listener) => listener.instancePort))) {
    const args = { loadBalancerName, instancePort, policyNames: [made] };
    new LoadBalancerBackendServerPolicy(backendName(name, instancePort), args, { deletedWith });
  }
}

function declareTLSPolicy(name: string, reference: string, { listeners }: RenderedClassic['settings'], loadBalancer: LoadBalancer): void {
  const [loadBalancerName, deletedWith] = [loadBalancer.id, loadBalancer];
  const attributes = [{ name: REFERENCE, value: reference }];
  const { policyName: made } = new LoadBalancerPolicy(
    policyName(name, tlsPolicyName(reference)),
    {
      loadBalancerName,
      policyName: tlsPolicyName(reference),
      policyTypeName: 'SSLNegotiationPolicyType',
      policyAttributes: attributes,
    },
    { deletedWith },
  );
  for (const listener of listeners.filter(({ sslCertificateId }) => sslCertificateId !== undefined)) {
    const args = { loadBalancerName, loadBalancerPort: listener.lbPort, policyNames: [made], triggers: triggersOf(listener) };
    new ListenerPolicy(listenerName(name, listener.lbPort), args, { deletedWith });
  }
}
