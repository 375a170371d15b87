import { cloudLoadBalancerSpec, type FormerOwner } from '../../../crds';
import { adoptionOf } from '../../../operator/cloud/stack/adoption';
import type { StoredLoadBalancer } from '../../../operator/cloud/stack/load-balancer-stacks';
import type { ConnectedCloud } from '../../../operator/cloud/providers/registry';
import type { Adoption, AdoptableFrom, LoadBalancerInput } from '../../../providers/provider';

const ADOPTION: Adoption = { from: 'somebody', resources: [] };

interface Scene {
  adopt?: FormerOwner;
  id?: string;
  allowed?: FormerOwner[];
  /** It has our finalizer: something of it was made, or begun. */
  wasHere?: boolean;
  found?: Adoption | null;
}

/** What the provider is asked for, with the id, and what comes of it. */
async function asked({ adopt, id, allowed = [], wasHere = false, found = ADOPTION }: Scene): Promise<string> {
  let from = 'nobody';
  const cloud = {
    name: 'aws',
    spec: { policy: { adoption: allowed } },
    cloud: {
      adoptable: (_stack: string, _input: LoadBalancerInput, of?: AdoptableFrom, named?: string) => {
        from = [of ?? 'nobody', ...(named === undefined ? [] : [named])].join(' ');
        return Promise.resolve(found ?? undefined);
      },
    },
  } as unknown as ConnectedCloud;
  const spec = cloudLoadBalancerSpec.parse({
    provider: 'aws',
    listeners: [{ name: 'http', port: 80, nodePort: 30_080 }],
    ...(adopt && { adopt }),
    ...(id && { adoptID: id }),
  });
  const metadata = { name: 'web', namespace: 'demo', uid: 'u', ...(wasHere && { finalizers: ['cloud-operator.dev/cleanup'] }) };
  await adoptionOf('lb-web', { metadata, spec } as unknown as StoredLoadBalancer, {} as LoadBalancerInput, cloud);
  return from;
}

test.each<[string, Scene, string]>([
  ['a new object asks for nobody’s', {}, 'nobody'],
  ['one that may take over asks for that', { adopt: 'Upstream', allowed: ['Upstream'] }, 'Upstream'],
  ['or one of its id', { adopt: 'Unowned', id: 'lb-1', allowed: ['Released', 'Unowned'] }, 'Unowned lb-1'],
  ['and asks again after an update that did not end', { adopt: 'Upstream', allowed: ['Upstream'], wasHere: true }, 'Upstream'],
  ['what was here asks for its own, where the annotation is gone', { wasHere: true }, 'Itself'],
  ['with its own marks, not by the id,', { adopt: 'Unowned', id: 'lb-1', wasHere: true }, 'Itself'],
  ['or the permission', { adopt: 'Upstream', wasHere: true }, 'Itself'],
])('%s', async (_name, scene, expected) => {
  expect(await asked(scene)).toBe(expected);
});

test('what may not be taken over, or is not there, is refused only while nothing was made', async () => {
  await expect(asked({ adopt: 'Upstream' })).rejects.toMatchObject({ reason: 'AdoptionDenied' });
  await expect(asked({ adopt: 'Upstream', allowed: ['Upstream'], found: null })).rejects.toMatchObject({
    reason: 'NothingToAdopt',
  });
  await expect(asked({ adopt: 'Unowned', id: 'lb-1', allowed: ['Upstream'] })).rejects.toMatchObject({ reason: 'AdoptionDenied' });
  await expect(asked({ adopt: 'Unowned', id: 'lb-1', allowed: ['Unowned'], found: null })).rejects.toMatchObject({
    reason: 'NothingToAdopt',
    field: 'spec.adoptID',
    message: 'spec.adoptID: the cloud has no load balancer lb-1 that could be taken over',
  });
  await expect(asked({ wasHere: true, found: null })).resolves.toBe('Itself');
});
