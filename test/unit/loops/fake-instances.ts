import { cloudProviderSpec } from '../../../crds';
import type { Clock } from '../../../operator/base/clock';
import { InstanceDirectory } from '../../../operator/cloud/instances/instance-directory';
import type { Instance } from '../../../providers/provider';
import { fakeRegistry } from '../cloud/fake-registry';

/** Cloud `one`, whose machines are told here: by the names that they go by. */
export class FakeInstances {
  readonly list: Instance[] = [];
  /** Thrown by the cloud while set. */
  failure: Error | undefined;
  listings = 0;

  add(name: string, changes: Partial<Instance> = {}): void {
    const addresses = [{ type: 'InternalIP' as const, address: '10.0.0.1' }];
    this.list.push({
      id: name,
      providerID: `fake://${name}`,
      names: [name],
      type: '',
      zone: '',
      region: '',
      addresses,
      state: 'Running',
      ...changes,
    });
  }

  /** @param nodeSelector of the CloudProvider: says whose a Node without a providerID is */
  async directory(clock: Clock, nodeSelector?: Record<string, string>): Promise<InstanceDirectory> {
    const listing = (): Promise<Instance[]> => {
      this.listings++;
      return this.failure === undefined ? Promise.resolve([...this.list]) : Promise.reject(this.failure);
    };
    const registry = fakeRegistry({ instances: { list: listing } });
    await registry.set(
      'one',
      cloudProviderSpec.parse({ custom: { kind: 'fake' }, ...(nodeSelector === undefined ? {} : { nodeSelector }) }),
    );
    return new InstanceDirectory(registry, clock);
  }
}
