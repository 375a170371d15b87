import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { OperatorError } from '../operator/base/errors';
import type { ProviderModule } from './provider';

const load = createRequire(__filename);

/** Providers that come with the operator; each is loaded when a CloudProvider of its kind appears. */
const MODULES: Record<string, () => ProviderModule> = {
  aws: () => (load('./aws') as { awsProvider: ProviderModule }).awsProvider,
  azure: () => (load('./azure') as { azureProvider: ProviderModule }).azureProvider,
  local: () => (load('./local') as { localProvider: ProviderModule }).localProvider,
};

/** The kinds whose provider is there: an image may have been built for some only. @param folder of the providers */
export function providerKinds(folder: string = __dirname): string[] {
  return Object.keys(MODULES).filter((kind) => ['index.js', 'index.ts'].some((file) => existsSync(join(folder, kind, file))));
}

/**
 * Loads the provider of a kind of cloud, the operator's half.
 * @throws OperatorError Invalid when there is none of that kind
 */
export function loadProvider(kind: string): Promise<ProviderModule> {
  const kinds = providerKinds();
  const open = kinds.includes(kind) ? MODULES[kind] : undefined;
  if (open !== undefined) return Promise.resolve(open());
  const known = kinds.join(', ');
  return Promise.reject(
    new OperatorError('Invalid', `there is no provider of kind "${kind}"; known are ${known}`, { remedy: `Use one of ${known}.` }),
  );
}
