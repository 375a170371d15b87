import { OperatorError } from '../../base/errors';
import { OWN_PACKAGE } from '../../../providers/resource-provider/own-package';
import type { ResourceProvider } from '../../../providers/resource-provider/resource-provider';
import type { PluginVariable, WorkerModule } from '../../../providers/worker-module';
import type { JsonObject } from '../../base/json';

/** Shorter ones would take ordinary words out of every message. */
const SHORTEST_SECRET = 8;

/**
 * How official plugins reach the cloud account: by their process's environment, which the engine gives them. It is in no input and so not in the state,
 * and what is secret of it is taken out of what they say.
 */
export class PluginAccess {
  readonly environment: Readonly<Record<string, string>>;
  private readonly secrets: readonly string[];

  /**
   * @param secrets what else may not be said
   * @param close ends what stands for the plugins alone
   */
  constructor(
    variables: readonly PluginVariable[],
    secrets: readonly string[] = [],
    readonly close: () => void = () => undefined,
  ) {
    this.environment = Object.fromEntries(variables.map(({ name, value }) => [name, value]));
    const all = [...variables.flatMap(({ secret, value }) => (secret === true ? [value] : [])), ...secrets];
    this.secrets = all.filter((value) => value.length >= SHORTEST_SECRET);
  }

  /** What a provider's plugins need, by the settings of one update. @throws OperatorError when those have it not */
  static async open(module: WorkerModule, settings: JsonObject): Promise<PluginAccess> {
    const variables = module.pluginVariables?.(settings) ?? [];
    const endpoint = await module.pluginEndpoint?.(settings);
    if (endpoint === undefined) return new PluginAccess(variables);
    return new PluginAccess([...variables, ...endpoint.variables], endpoint.secrets, () => endpoint.close());
  }

  /** A message without the secrets. */
  redact(text: string): string {
    return this.secrets.reduce((left, secret) => left.replaceAll(secret, '[secret]'), text);
  }
}

/**
 * The module where the cloud's types are the official plugin's, which the engine finds and starts by itself: our own types are served beside it. Pure.
 * @param own as the provider has it
 * @param module with what an extension does in it
 * @throws OperatorError where the cloud has no plugin
 */
export function besidePlugin({ hasOfficialPlugin }: WorkerModule, module: WorkerModule): WorkerModule {
  if (hasOfficialPlugin !== true) {
    const remedy = 'set spec.plugin: BuiltIn';
    throw new OperatorError('Invalid', 'the provider of this cloud does not run with an official plugin', { field: 'spec.plugin', remedy });
  }
  const isOurs = (provider: ResourceProvider): boolean => provider.package === OWN_PACKAGE;
  return { ...module, resourceProviders: (settings, context) => module.resourceProviders(settings, context).filter(isOurs) };
}
