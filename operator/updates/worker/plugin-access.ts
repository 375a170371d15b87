import { OperatorError } from '../../base/errors';
import { OWN_PACKAGE } from '../../../providers/resource-provider/own-package';
import type { ResourceProvider } from '../../../providers/resource-provider/resource-provider';
import type { PluginVariable, WorkerModule } from '../../../providers/worker-module';

/** Shorter ones would take ordinary words out of every message. */
const SHORTEST_SECRET = 8;

/**
 * How official plugins reach the cloud account: by their process's environment, which the engine gives them. It is in no input and so not in the state,
 * and what is secret of it is taken out of what they say.
 */
export class PluginAccess {
  readonly environment: Readonly<Record<string, string>>;
  private readonly secrets: readonly string[];

  constructor(variables: readonly PluginVariable[]) {
    this.environment = Object.fromEntries(variables.map(({ name, value }) => [name, value]));
    this.secrets = variables.filter(({ secret, value }) => secret === true && value.length >= SHORTEST_SECRET).map(({ value }) => value);
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
