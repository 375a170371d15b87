import type { PluginVariable } from '../../../providers/worker-module';

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
