import { SERVICE_UID_ANNOTATION } from '../../../../crds';
import type { StoredCloudLoadBalancer } from '../../../../operator/loops/kinds';
import { Neighbors } from '../../../../operator/loops/service/neighbors';
import { cloudLoadBalancer, NOW } from '../objects';

function balancer(name: string, { ip, provider = 'azure', objectUID = name }: { ip?: string; provider?: string; objectUID?: string } = {}) {
  return cloudLoadBalancer({
    metadata: { name, uid: name, annotations: { [SERVICE_UID_ANNOTATION]: `of-${name}` } },
    spec: { provider },
    ...(ip !== undefined && { status: { objectUID, ingress: [{ ip }, { hostname: 'x' }] } }),
  });
}

const among = (...all: StoredCloudLoadBalancer[]): Neighbors => new Neighbors({ list: () => all });

test('are the others of the CloudProvider, with what they are served at', () => {
  const others = among(balancer('web'), balancer('api', { ip: '203.0.113.1' }), balancer('inner'), balancer('far', { provider: 'aws' }));
  expect(others.of('demo/web', 'azure')).toEqual([
    { uid: 'api', ownerUID: 'of-api', key: 'demo/api', createdAt: NOW, spec: { provider: 'azure' }, addresses: ['203.0.113.1'] },
    expect.objectContaining({ key: 'demo/inner', addresses: [] }),
  ]);
});

test('a status that was written for another object says nothing', () => {
  const [neighbor] = among(balancer('api', { ip: '203.0.113.1', objectUID: 'other' })).of('demo/web', 'azure');
  expect(neighbor?.addresses).toEqual([]);
});

test('who has asked is told of those that come, go or are served elsewhere, and of nothing else', () => {
  const others = among();
  const [bare, served] = [balancer('api'), balancer('api', { ip: '203.0.113.1' })];
  expect(others.affectedBy({ key: 'demo/api', current: bare })).toEqual([]);
  for (const key of ['demo/web', 'demo/api', 'demo/gone']) others.of(key, 'azure');
  others.forget('demo/gone');
  const told = [bare, served, { ...served, metadata: { ...served.metadata, resourceVersion: '31' } }, undefined].map((current) =>
    others.affectedBy({ key: 'demo/api', ...(current && { current }) }),
  );
  expect(told).toEqual([[], ['demo/web'], [], ['demo/web']]);
});
