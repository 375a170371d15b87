import { createRequire } from 'node:module';
import { OperatorError } from '../operator/base/errors';
import type { WorkerModule } from './worker-module';

const load: (path: string) => unknown = createRequire(__filename);

/** The built-in providers' worker halves by kind; each is loaded only when an update needs it. */
const BUILT_IN: Record<string, () => unknown> = {
  aws: () => load('./aws/worker'),
  azure: () => load('./azure/worker'),
  local: () => load('./local/worker'),
};

/**
 * Gives the worker half of a provider: a built-in one by its kind, or another one by the path of a module that exports `workerModule`.
 * @throws OperatorError Invalid when there is none
 */
export function loadWorkerModule(kind: string, path?: string): WorkerModule {
  const exported = path === undefined ? loadBuiltIn(kind) : load(path);
  const { workerModule } = exported as { workerModule?: Partial<WorkerModule> };
  if (typeof workerModule?.program !== 'function' || typeof workerModule.resourceProviders !== 'function') {
    throw new OperatorError(
      'Invalid',
      `the worker module of provider "${kind}" doesn't export "workerModule" with program and resourceProviders`,
      {
        remedy: `export it from ${path ?? `providers/${kind}/worker`}`,
      },
    );
  }
  return workerModule as WorkerModule;
}

function loadBuiltIn(kind: string): unknown {
  const module = BUILT_IN[kind];
  if (module === undefined) {
    throw new OperatorError('Invalid', `there is no provider "${kind}"`, { remedy: `known are ${Object.keys(BUILT_IN).join(', ')}` });
  }
  return module();
}
