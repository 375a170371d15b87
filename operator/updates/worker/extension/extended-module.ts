import { runtime } from '@pulumi/pulumi';
import type { Extension, LoadBalancer, StackOutputs } from '../../../../extensions';
import { OperatorError } from '../../../base/errors';
import type { JsonObject } from '../../../base/json';
import type { UpdateContext, WorkerModule } from '../../../../providers/worker-module';
import type { ResourceProvider } from '../../../../providers/resource-provider/resource-provider';
import type { ExtensionModule } from '../../extension-module';
import type { ExtensionUse } from '../../update';
import { loadExtension, nameOf } from './load';
import { describeThrown } from './thrown';
import { within } from './time-limit';
import { Transformation } from './transformation';

/** For what runs before the first `await`; after that the deadline of the update holds. */
const EXTRA_LIMIT_MS = 5_000;

/**
 * The provider's module with the extension's part in it: its resources transformed, or the extension's program in place of the provider's.
 * @param use what the extension is to do; undefined = none, and the module is given back as it is
 * @param destroys true: nothing will be registered, so a broken extension is in nobody's way
 * @throws OperatorError when the extension can't be loaded
 */
export function extendedModule(module: WorkerModule, use: ExtensionUse | undefined, destroys: boolean): WorkerModule {
  if (use === undefined) return module;
  if (use.role === 'transform') {
    if (destroys) return module;
    const { transform } = loadExtension(use.module);
    return transform === undefined ? module : transformedModule(module, { ...use, transform });
  }
  return {
    program: destroys || use.module === undefined ? () => Promise.resolve({}) : extraProgram(use.module),
    resourceProviders: (settings, context) => (module.hasOfficialPlugin === true ? [] : module.resourceProviders(settings, context)),
    pluginVariables: (settings) => module.pluginVariables?.(settings) ?? [],
  };
}

interface TransformUse {
  module: ExtensionModule;
  transform: NonNullable<Extension['transform']>;
  loadBalancers: readonly LoadBalancer[];
}

function transformedModule(provider: WorkerModule, { module, transform, loadBalancers }: TransformUse): WorkerModule {
  let knownTypes: string[] = [];
  return {
    resourceProviders: (settings: JsonObject, context: UpdateContext): ResourceProvider[] => {
      const providers = provider.resourceProviders(settings, context);
      knownTypes = providers.flatMap(({ types }) => types.map(({ token }) => token));
      return providers;
    },
    program: async (inputs) => {
      const loadBalancersOf = (resource: Parameters<NonNullable<WorkerModule['loadBalancersOf']>>[0]): readonly LoadBalancer[] => {
        const uids = provider.loadBalancersOf?.(resource, inputs) ?? [];
        return uids.length === 0 ? loadBalancers : loadBalancers.filter(({ uid }) => uids.includes(uid));
      };
      const transformation = new Transformation({ module, transform, loadBalancersOf, knownTypes });
      runtime.registerStackTransformation(transformation.apply);
      try {
        return await begun(() => provider.program(inputs), transformation);
      } finally {
        transformation.open();
      }
    },
  };
}

/** Everything that a program registers before its first `await` is transformed before any of it is sent. */
function begun<T>(program: () => Promise<T>, transformation: Transformation): Promise<T> {
  const running = program();
  transformation.open();
  return running;
}

function extraProgram(module: ExtensionModule): WorkerModule['program'] {
  const { extra } = loadExtension(module);
  const what = `extra of the extension ${nameOf(module)}`;
  return async (inputs) => {
    let outputs: unknown;
    try {
      outputs = await within(EXTRA_LIMIT_MS, what, () => extra?.(inputs as unknown as StackOutputs));
    } catch (thrown) {
      if (thrown instanceof OperatorError) throw thrown;
      throw new OperatorError('Invalid', `${what} failed: ${describeThrown(thrown, module.path)}`, { cause: thrown });
    }
    if (outputs === undefined) return {};
    if (typeof outputs === 'object' && outputs !== null && !Array.isArray(outputs)) return outputs as Record<string, unknown>;
    throw new OperatorError(
      'Invalid',
      `${what} gave ${outputs === null ? 'null' : `a ${typeof outputs}`} instead of an object with outputs`,
      {
        remedy: 'Return an object, or nothing.',
      },
    );
  };
}
