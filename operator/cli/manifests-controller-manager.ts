import type { ControllerManager, DropIn, LeaseName, ManifestOptions } from '../../synth/manifests';
import { OperatorError, toOperatorError } from '../base/errors';
import { readSmallFile } from '../base/small-file';
import { DEFAULT_MIGRATION, leaderMigrationOf } from '../flags/leader-migration';
import { parseFlags } from '../flags/parse';
import { FLAGS, type FlagValues } from '../flags/table';
import { validateFlags } from '../flags/validate';
import { readClusterCidrs } from './operator-options';

export interface ControllerManagerFlags {
  workload: ControllerManager['workload'];
  /** Flags of `controller-manager`, as they stand in somebody's manifest. */
  flags: readonly string[];
  /** Path of the leader migration's file. */
  migrationConfig?: string | undefined;
}

/** What the manifests say themselves, and by which of their options; undefined = nobody but they can say it. */
const SAID_BY: Record<string, string | undefined> = {
  'cloud-config': '--cloud-config',
  'cloud-provider': '--provider',
  extension: '--extension',
  help: undefined,
  'install-crds': undefined,
  kubeconfig: undefined,
  context: undefined,
  'leader-migration-config': '--leader-migration-config',
  namespace: '--namespace',
  'secrets-provider': '--secrets-provider',
  'state-directory': undefined,
  'state-namespace': '--state-namespace',
  'state-store': undefined,
  version: undefined,
};
const EVERY_ADDRESS = ['', '0.0.0.0', '::'];

/**
 * The flags are read as `controller-manager` will read them: what they say about leases and the HTTPS server, roles and probes must match.
 * @throws OperatorError Invalid when `controller-manager` would refuse them, or the manifests say the same in another way
 */
export function controllerManagerOf({ workload, flags, migrationConfig }: ControllerManagerFlags): {
  controllerManager: ControllerManager;
  leaderElection: LeaseName;
} {
  const { values, given } = valuesOf(flags);
  for (const name of given) if (name in SAID_BY) throw saidOtherwise(name);
  if (values['secure-port'] === 0) throw ofFlags('--secure-port=0 leaves the probes nothing to ask');
  const host = EVERY_ADDRESS.includes(values['bind-address']) ? '127.0.0.1' : values['bind-address'];
  const migration = migrationConfig === undefined ? undefined : migrationOf(migrationConfig);
  return {
    controllerManager: {
      workload,
      flags: [...flags],
      health: { host, port: values['secure-port'] },
      serviceAccountCredentials: values['use-service-account-credentials'],
      ...(migration === undefined ? {} : { migrationConfig: migration.text }),
    },
    leaderElection: leasesOf(values, migration),
  };
}

export interface DropInFlags {
  serviceAccount: DropIn['serviceAccount'];
  /** All flags that the Pods have. */
  flags: readonly string[];
  /** Path of the leader migration's file on this machine. */
  migrationConfig?: string | undefined;
}

/**
 * What the flags of somebody's own manifest mean for the rights that its Pods need.
 * @throws OperatorError Invalid when `controller-manager` would refuse them, or they name a file that only the Pods have
 */
export function dropInOf({
  serviceAccount,
  flags,
  migrationConfig,
}: DropInFlags): Pick<ManifestOptions, 'dropIn' | 'leaderElection' | 'namespace' | 'stateNamespace'> {
  const { values, given } = valuesOf(flags);
  if (given.has('leader-migration-config') && migrationConfig === undefined)
    throw ofFlags('--leader-migration-config is a file of the Pods: give it here too, before the --');
  const migration = migrationConfig === undefined ? undefined : migrationOf(migrationConfig);
  return {
    dropIn: { serviceAccount, serviceAccountCredentials: values['use-service-account-credentials'] },
    leaderElection: leasesOf(values, migration),
    namespace: values.namespace,
    stateNamespace: values['state-namespace'] || values.namespace,
  };
}

function leasesOf(values: FlagValues, migration: { leaderName: string } | undefined): LeaseName {
  const second = migration?.leaderName ?? (values['enable-leader-migration'] ? DEFAULT_MIGRATION.leaderName : undefined);
  return {
    namespace: values['leader-elect-resource-namespace'],
    name: values['leader-elect-resource-name'],
    ...(second === undefined ? {} : { migration: second }),
  };
}

function valuesOf(flags: readonly string[]): { values: FlagValues; given: ReadonlySet<string> } {
  try {
    const { values, given, positional } = parseFlags(FLAGS, flags);
    if (positional.length > 0) throw invalid(`${JSON.stringify(positional[0])} is no flag`);
    validateFlags(values as FlagValues);
    if ((values as FlagValues)['configure-cloud-routes']) readClusterCidrs((values as FlagValues)['cluster-cidr']);
    return { values: values as FlagValues, given };
  } catch (thrown) {
    throw ofFlags(toOperatorError(thrown).message, thrown);
  }
}

function saidOtherwise(name: string): OperatorError {
  const option = SAID_BY[name];
  return ofFlags(
    option === undefined ? `--${name} can't be used in a Pod of these manifests` : `--${name} is what ${option} says: before the --`,
  );
}

function migrationOf(file: string): { leaderName: string; text: string } {
  try {
    return { leaderName: leaderMigrationOf(file).leaderName, text: readSmallFile(file) };
  } catch (thrown) {
    throw invalid(`--leader-migration-config: ${toOperatorError(thrown).message}`, thrown);
  }
}

function ofFlags(message: string, cause?: unknown): OperatorError {
  return invalid(`flags of controller-manager: ${message}`, cause);
}

function invalid(message: string, cause?: unknown): OperatorError {
  return new OperatorError('Invalid', message, cause === undefined ? {} : { cause });
}
