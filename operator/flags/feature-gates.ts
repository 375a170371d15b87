import { OperatorError, toOperatorError } from '../base/errors';
import { parseBoolean } from './types';

interface Gate {
  stage: 'Alpha' | 'Beta';
  default: boolean;
}

const ALPHA: Gate = { stage: 'Alpha', default: false };
const BETA: Gate = { stage: 'Beta', default: true };

/**
 * Gates of upstream's controller manager itself. Only the first one changes something here: routes follow a watch, and the Lease is given back, whatever
 * the others say.
 */
const OWN = {
  CloudControllerManagerWebhook: ALPHA,
  CloudControllerManagerWatchBasedRoutesReconciliation: ALPHA,
  ControllerManagerReleaseLeaderElectionLockOnExit: ALPHA,
} satisfies Record<string, Gate>;

/** Gates of the libraries that upstream is built with: known there, without a meaning here. */
const FOREIGN: Record<string, Gate> = {
  ...gates(ALPHA, ['APIServingWithRoutine', 'AllowUnsafeMalformedObjectDeletion', 'CBORServingAndStorage', 'ClientsAllowCBOR']),
  ...gates(ALPHA, ['ClientsPreferCBOR', 'LoggingAlphaOptions', 'StorageVersionAPI', 'UnknownVersionInteroperabilityProxy']),
  ...gates(BETA, ['APIResponseCompression', 'APIServerIdentity', 'AllowParsingUserUIDFromCertAuth', 'ContextualLogging']),
  ...gates(BETA, ['InOrderInformers', 'InformerResourceVersion', 'LoggingBetaOptions', 'OpenAPIEnums', 'SizeBasedListCostEstimate']),
  ...gates(BETA, ['StorageVersionHash', 'UnauthenticatedHTTP2DOSMitigation', 'WatchList', 'WatchListClient', 'ComponentSLIs']),
};

export type GateName = keyof typeof OWN;

/** Every gate's state after the flags. */
export class FeatureGates {
  private readonly enabled: ReadonlyMap<string, boolean>;

  /**
   * @param settings the entries of `--feature-gates`: `Gate=true`, also with the component `kube:` in front
   * @throws OperatorError Invalid for an unknown gate, or a value that is no boolean
   */
  constructor(settings: readonly string[]) {
    const given = new Map(settings.map(readSetting));
    for (const name of given.keys()) if (!isKnown(name)) throw new OperatorError('Invalid', `unrecognized feature gate: ${name}`);
    const all = { Alpha: given.get('AllAlpha'), Beta: given.get('AllBeta') };
    const known = Object.entries<Gate>({ ...OWN, ...FOREIGN });
    this.enabled = new Map(known.map(([name, gate]) => [name, given.get(name) ?? all[gate.stage] ?? gate.default]));
  }

  has(name: GateName): boolean {
    return this.enabled.get(name) === true;
  }

  /** For --help: `Gate=true|false (ALPHA - default=false)`. */
  static describe(): string[] {
    return Object.entries<Gate>(OWN).map(
      ([name, gate]) => `${name}=true|false (${gate.stage.toUpperCase()} - default=${String(gate.default)})`,
    );
  }
}

function readSetting(setting: string): [string, boolean] {
  const [name = '', ...rest] = setting.split('=').map((part) => part.trim());
  const gate = name.replace(/^kube:/, '');
  if (rest.length === 0) throw new OperatorError('Invalid', `missing bool value for ${gate}`);
  try {
    return [gate, parseBoolean(rest.join('='))];
  } catch (thrown) {
    throw new OperatorError('Invalid', `invalid value of ${setting}, err: ${toOperatorError(thrown).message}`, { cause: thrown });
  }
}

function isKnown(name: string): boolean {
  return name in OWN || name in FOREIGN || name === 'AllAlpha' || name === 'AllBeta';
}

function gates(gate: Gate, names: string[]): Record<string, Gate> {
  return Object.fromEntries(names.map((name) => [name, gate]));
}
