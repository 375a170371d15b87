import { cloudLoadBalancerSpec, type FormerOwner } from '../../../crds';
import { adoptionOf } from '../../../operator/cloud/stack/adoption';
import type { StoredLoadBalancer } from '../../../operator/cloud/stack/load-balancer-stacks';
import type { ConnectedCloud } from '../../../operator/cloud/providers/registry';
import type { Adoption, AdoptableFrom, LoadBalancerInput } from '../../../providers/provider';

const ADOPTION: Adoption = { from: 'somebody', resources: [] };

interface Scene {
  adopt?: FormerOwner;
  allowed?: FormerOwner[];
  /** It has our finalizer: something of it was made, or begun. */
  wasHere?: boolean;
  found?: Adoption | null;
}

/** What the provider is asked, and what comes of it. */
async function asked({ adopt, allowed = [], wasHere = false, found = ADOPTION }: Scene): Promise<AdoptableFrom | 'nobody'> {
  let from: AdoptableFrom | 'nobody' = 'nobody';
  const cloud = {
    name: 'aws',
    spec: { policy: { adoption: allowed } },
    cloud: {
      adoptable: (_stack: string, _input: LoadBalancerInput, of?: AdoptableFrom) => {
        from = of ?? 'nobody';
        return Promise.resolve(found ?? undefined);
      },
    },
  } as unknown as ConnectedCloud;
  const spec = cloudLoadBalancerSpec.parse({
    provider: 'aws',
    listeners: [{ name: 'http', port: 80, nodePort: 30_080 }],
    ...(adopt && { adopt }),
  });
  const metadata = { name: 'web', namespace: 'demo', uid: 'u', ...(wasHere && { finalizers: ['cloud-operator.dev/cleanup'] }) };
  await adoptionOf('lb-web', { metadata, spec } as unknown as StoredLoadBalancer, {} as LoadBalancerInput, cloud);
  return from;
}

test.each<[string, Scene, AdoptableFrom | 'nobody']>([
  ['a new object asks for nobody’s', {}, 'nobody'],
  ['one that may take over asks for that', { adopt: 'Upstream', allowed: ['Upstream'] }, 'Upstream'],
  ['and asks again after an update that did not end', { adopt: 'Upstream', allowed: ['Upstream'], wasHere: true }, 'Upstream'],
  ['what was here asks for its own, where the annotation is gone', { wasHere: true }, 'Itself'],
  ['or the permission', { adopt: 'Upstream', wasHere: true }, 'Itself'],
])('%s', async (_name, scene, expected) => {
  expect(await asked(scene)).toBe(expected);
});

test('what may not be taken over, or is not there, is refused only while nothing was made', async () => {
  await expect(asked({ adopt: 'Upstream' })).rejects.toMatchObject({ reason: 'AdoptionDenied' });
  await expect(asked({ adopt: 'Upstream', allowed: ['Upstream'], found: null })).rejects.toMatchObject({
    reason: 'NothingToAdopt',
  });
  await expect(asked({ wasHere: true, found: null })).resolves.toBe('Itself');
});
