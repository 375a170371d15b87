import { createRequire } from 'node:module';
import { OperatorError } from '../operator/base/errors';
import type { ProviderModule } from './provider';

const load = createRequire(__filename);

/** Providers that come with the operator; each is loaded when a CloudProvider of its kind appears. */
const MODULES: Record<string, () => ProviderModule> = {
  aws: () => (load('./aws') as { awsProvider: ProviderModule }).awsProvider,
  local: () => (load('./local') as { localProvider: ProviderModule }).localProvider,
};

/**
 * Loads the provider of a kind of cloud, the operator's half.
 * @throws OperatorError Invalid when there is none of that kind
 */
export function loadProvider(kind: string): Promise<ProviderModule> {
  const open = Object.hasOwn(MODULES, kind) ? MODULES[kind] : undefined;
  if (open !== undefined) return Promise.resolve(open());
  const known = Object.keys(MODULES).join(', ');
  return Promise.reject(
    new OperatorError('Invalid', `there is no provider of kind "${kind}"; known are ${known}`, { remedy: `Use one of ${known}.` }),
  );
}
