import { CloudRegistry } from '../../../operator/cloud/providers/registry';
import type { Cloud } from '../../../providers/provider';

/** A registry whose CloudProviders, of whatever kind, are all connected to a cloud that can do only what is given. */
export function fakeRegistry(abilities: Partial<Cloud> = {}): CloudRegistry {
  return new CloudRegistry({
    clusterID: 'c',
    readSecret: () => Promise.resolve(['']),
    loadModule: (kind) =>
      Promise.resolve({
        ...{ kind, providerIDScheme: kind, programVersion: '1' },
        compile: () => ({ block: {}, problems: [] }),
        connect: () => Promise.resolve({ workerSettings: () => ({}), close: () => Promise.resolve(), ...abilities }),
      }),
  });
}
