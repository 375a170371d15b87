import { cloudLoadBalancerSpec, type CloudLoadBalancerSpecInput } from '../../../crds';
import { recognize } from '../../../providers/aws/recognize';
import type { DiscoveredResource, LoadBalancerInput } from '../../../providers/provider';

function input(owner: string, aws: CloudLoadBalancerSpecInput['aws'] = {}): LoadBalancerInput {
  const listeners = [{ name: 'http', port: 80, nodePort: 30080 }];
  const spec = cloudLoadBalancerSpec.parse({ provider: 'aws', aws, listeners });
  return { uid: `${owner}-uid`, ownerUID: owner, namespace: 'demo', name: owner, spec };
}

const balancer = (name: string, dnsName: string): DiscoveredResource => ({
  ...{ type: 'aws:lb/loadBalancer:LoadBalancer', name, id: `arn:lb/${name}`, inputs: {}, outputs: { dnsName } },
});
const group = (name: string, port: number): DiscoveredResource => ({
  ...{ type: 'aws:lb/targetGroup:TargetGroup', name, id: `arn:tg/${name}`, inputs: { port }, outputs: {} },
});

const classic = (name: string, dnsName: string, ...instancePorts: number[]): DiscoveredResource => ({
  ...{ type: 'aws:elb/loadBalancer:LoadBalancer', name, id: name },
  ...{ inputs: { listeners: instancePorts.map((instancePort) => ({ instancePort })) }, outputs: { dnsName } },
});

const WEB = [balancer('aweb', 'web.elb.example'), group('aweb-tcp-80-0123456789', 30080), group('aweb-tcp-81-0123456789', 30081)];

test('host name, target groups and their ports, also of a port that the spec has no more', () => {
  expect(recognize(WEB, input('web'))).toEqual({
    generation: 0,
    ingress: [{ hostname: 'web.elb.example' }],
    targetGroups: [
      { id: 'arn:tg/aweb-tcp-80-0123456789', port: 30080 },
      { id: 'arn:tg/aweb-tcp-81-0123456789', port: 30081 },
    ],
  });
});

test('where only some Nodes are to be targets, that holds too', () => {
  const nodeLabels = { pool: 'edge' };
  const groups = recognize(WEB, input('web', { targetNodeLabels: nodeLabels }))?.targetGroups;
  expect(groups?.map((found) => found.nodeLabels)).toEqual([nodeLabels, nodeLabels]);
});

test('after a replacement the newest generation says where it answers', () => {
  const found = [...WEB, balancer('aweb-g1', 'next.elb.example'), group('aweb-g1-tcp-80-abcdefabcd', 30080)];
  expect(recognize(found, input('web'))).toMatchObject({ generation: 1, ingress: [{ hostname: 'next.elb.example' }] });
  expect(recognize(found, input('web'))?.targetGroups).toHaveLength(3);
});

test('of a replacement that did not end, the generation before serves', () => {
  const found = [...WEB, group('aweb-g1-tcp-80-abcdefabcd', 30080)];
  expect(recognize(found, input('web'))).toMatchObject({ generation: 0, ingress: [{ hostname: 'web.elb.example' }] });
});

test('nothing of its own', () => expect(recognize(WEB, input('other'))).toBeUndefined());

describe('a Classic load balancer', () => {
  const aws = { type: 'Classic' as const, targetNodeLabels: { pool: 'edge' } };

  test('host name, and its one set of members under the least of the Nodes’ ports', () => {
    expect(recognize([classic('aweb', 'web.elb.example', 30081, 30080)], input('web', aws))).toEqual({
      generation: 0,
      ingress: [{ hostname: 'web.elb.example' }],
      targetGroups: [{ id: 'aweb', port: 30080, nodeLabels: { pool: 'edge' } }],
    });
    expect(recognize([classic('aweb', 'web.elb.example', 30080)], input('other', aws))).toBeUndefined();
  });

  test('that takes the place of one, also of the other kind', () => {
    const found = [...WEB, classic('aweb-g1', 'classic.elb.example', 30080)];
    expect(recognize(found, input('web'))).toMatchObject({ generation: 1, ingress: [{ hostname: 'classic.elb.example' }] });
    expect(recognize(found, input('web'))?.targetGroups.map(({ id }) => id)).toEqual([WEB[1]?.id, WEB[2]?.id, 'aweb-g1']);
  });
});
