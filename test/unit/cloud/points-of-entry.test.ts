import { cloudLoadBalancerSpec } from '../../../crds/cloud-load-balancer';
import { LoadBalancerStacks, type StoredLoadBalancer } from '../../../operator/cloud/stack/load-balancer-stacks';
import type { Knowledge } from '../../../operator/cloud/stack/stack-kind';
import { resourcesOf, type Deployment } from '../../../operator/updates/checkpoint';

const TYPE = 'fake:index:LoadBalancer';
const INGRESS = [{ hostname: 'web.example' }];
const resource = { type: TYPE, custom: true, id: 'lb-1', urn: `urn:pulumi:s::p::${TYPE}::web` };
const group = { ...resource, type: 'fake:index:Group', id: 'g-1', urn: 'urn:pulumi:s::p::fake:index:Group::web' };

const resourcesWith = (mark: object) =>
  resourcesOf({ version: 3, deployment: { resources: [group, { ...resource, ...mark }] } } as unknown as Deployment);

/** What is said of a load balancer whose last update left this in the state. */
function keptOf(mark: object, entries: string[] | undefined): { ingress: unknown; serving: boolean } {
  const stacks = new LoadBalancerStacks({} as never, { vouch: () => undefined } as never, {} as never, 'c');
  const spec = cloudLoadBalancerSpec.parse({ provider: 'p', listeners: [{ name: 'http', port: 80 }], custom: { kind: 'fake' } });
  const object = { metadata: { name: 'web', namespace: 'd', uid: 'u' }, spec } as StoredLoadBalancer;
  const loadBalancers = { entries, results: () => ({ ingress: INGRESS, targetGroups: [] }) };
  const cloud = { name: 'p', cloud: { loadBalancers } };
  const state = { outputs: { u: {} }, incarnation: 'i', resources: resourcesWith(mark) };
  const known = { stack: 's', cloud, state } as unknown as Knowledge;
  return { ingress: stacks.keptFields(object, known).ingress, serving: stacks.serving(object, known) };
}

test('a load balancer that stands serves at its points of entry', () => {
  expect(keptOf({}, [TYPE])).toEqual({ ingress: INGRESS, serving: true });
});

test.each([['pendingReplacement'], ['delete']])('R-46: one that is deleted and not made again yet (%s) serves nobody', (mark) => {
  expect(keptOf({ [mark]: true }, [TYPE])).toEqual({ ingress: [], serving: false });
});

test('where the cloud does not say what they are of, the outputs count', () => {
  expect(keptOf({ delete: true }, undefined)).toEqual({ ingress: INGRESS, serving: true });
});
