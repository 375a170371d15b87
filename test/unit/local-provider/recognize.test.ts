import { cloudLoadBalancerSpec, type CloudLoadBalancerSpecInput } from '../../../crds';
import { LocalLoadBalancers } from '../../../providers/local/load-balancers';
import type { DiscoveredResource, LoadBalancerInput } from '../../../providers/provider';

const { recognize } = new LocalLoadBalancers({ clusterID: 'c1', providerName: 'local' });

function input(owner: string, spec: Partial<CloudLoadBalancerSpecInput> = {}): LoadBalancerInput {
  const listeners = [{ name: 'http', port: 80, nodePort: 30080 }];
  const parsed = cloudLoadBalancerSpec.parse({ provider: 'local', local: {}, listeners, ...spec });
  return { uid: `${owner}-uid`, ownerUID: owner, namespace: 'demo', name: owner, spec: parsed };
}

const resource = (type: string, name: string, more: Partial<DiscoveredResource> = {}): DiscoveredResource => ({
  ...{ type: `local:index:${type}`, name, id: `${type}-${name}`, inputs: {}, outputs: {} },
  ...more,
});
const pool = (name: string): DiscoveredResource => resource('TargetPool', name);
const address = (name: string, ip: string): DiscoveredResource => resource('Address', name, { outputs: { ip } });
/** @param listeners pool names, each with the addresses of its own, where it has some */
function loadBalancer(
  name: string,
  addresses: string[],
  listeners: Record<string, string[] | undefined>,
  mode?: string,
): DiscoveredResource {
  const ids = (names: string[]): string[] => names.map((one) => `Address-${one}`);
  const listed = Object.entries(listeners).map(([poolName, own]) => ({
    poolID: `TargetPool-${poolName}`,
    ...(own && { addressIDs: ids(own) }),
  }));
  return resource('LoadBalancer', name, { inputs: { addressIDs: ids(addresses), listeners: listed, ...(mode !== undefined && { mode }) } });
}

const WEB = [address('aweb-v4', '10.0.0.1'), pool('aweb-tcp-80'), loadBalancer('aweb', ['aweb-v4'], { 'aweb-tcp-80': undefined })];

test('its own load balancer: address, pool and the node port of its spec', () => {
  expect(recognize(WEB, input('web'))).toEqual({
    generation: 0,
    ingress: [{ ip: '10.0.0.1', ipMode: 'Proxy' }],
    targetGroups: [{ id: 'TargetPool-aweb-tcp-80', port: 30080 }],
  });
});

test('a pool of a port that the spec has no more is left out: nobody knows its node port', () => {
  const found = [...WEB, pool('aweb-tcp-81')];
  expect(recognize(found, input('web'))?.targetGroups).toEqual([{ id: 'TargetPool-aweb-tcp-80', port: 30080 }]);
});

test('after a replacement the newest generation says where it answers, and all of them have targets', () => {
  const found = [
    ...WEB,
    ...[address('aweb-g1-v4', '10.0.0.2'), pool('aweb-g1-tcp-80')],
    loadBalancer('aweb-g1', ['aweb-g1-v4'], { 'aweb-g1-tcp-80': undefined }, 'passthrough'),
  ];
  const passthrough = input('web', { local: { engine: 'Passthrough' } });
  expect(recognize(found, passthrough)).toEqual({
    generation: 1,
    ingress: [{ ip: '10.0.0.2', ipMode: 'VIP' }],
    targetGroups: [
      { id: 'TargetPool-aweb-tcp-80', port: 80 },
      { id: 'TargetPool-aweb-g1-tcp-80', port: 80 },
    ],
  });
});

test('of a replacement that did not end, the generation before serves', () => {
  const found = [...WEB, address('aweb-g1-v4', '10.0.0.2'), pool('aweb-g1-tcp-80')];
  expect(recognize(found, input('web'))).toMatchObject({ generation: 0, ingress: [{ ip: '10.0.0.1' }] });
});

test('of a shared load balancer, each has what its own listeners answer on', () => {
  const found = [
    ...[address('p1-v4', '10.0.0.3'), address('p1-10.0.0.9', '10.0.0.9'), pool('aweb-tcp-80'), pool('aother-tcp-80')],
    loadBalancer('p1', ['p1-v4', 'p1-10.0.0.9'], { 'aweb-tcp-80': ['p1-v4'], 'aother-tcp-80': ['p1-10.0.0.9'] }),
  ];
  const placement = { name: 'edge' };
  expect(recognize(found, input('other', { placement }))).toEqual({
    generation: 0,
    ingress: [{ ip: '10.0.0.9', ipMode: 'Proxy' }],
    targetGroups: [{ id: 'TargetPool-aother-tcp-80', port: 30080 }],
  });
});

test('what another one has, whose name only begins alike, is not its own', () => {
  expect(recognize([pool('aweb2-tcp-80'), pool('aother-tcp-80')], input('web'))).toBeUndefined();
  expect(recognize([], input('web'))).toBeUndefined();
});

test('pools without a load balancer: made, but nothing is served yet', () => {
  expect(recognize([pool('aweb-tcp-80')], input('web'))).toEqual({
    generation: 0,
    ingress: [],
    targetGroups: [{ id: 'TargetPool-aweb-tcp-80', port: 30080 }],
  });
});
