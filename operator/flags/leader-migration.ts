import { parse } from 'yaml';
import { OperatorError } from '../base/errors';
import { readSmallFile } from '../base/small-file';
import { CONTROLLERS, type ControllerName } from './controllers';

/** Which manager runs which controllers while they move from one to another (contract 7.5). */
export interface LeaderMigration {
  /** Name of the second Lease, in the namespace of the main one. */
  leaderName: string;
  resourceLock: string;
  controllerLeaders: ControllerLeader[];
}

export interface ControllerLeader {
  name: string;
  /** `*` = every manager, one at a time. */
  component: string;
}

/** The Lease that a controller needs; `Elsewhere` = another manager runs it. */
export type MigrationLock = 'Main' | 'Migration' | 'Elsewhere';

const COMPONENT = 'cloud-controller-manager';
const KIND = 'LeaderMigrationConfiguration';
const GROUP = 'controllermanager.config.k8s.io';
const VERSIONS = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `${GROUP}/${version}`);
const FIELDS = ['apiVersion', 'kind', 'leaderName', 'resourceLock', 'controllerLeaders'];
const LEADER_FIELDS = ['name', 'component'];

/** The list without a file. */
export const DEFAULT_MIGRATION: LeaderMigration = {
  leaderName: 'cloud-provider-extraction-migration',
  resourceLock: 'leases',
  controllerLeaders: ['route-controller', 'service-controller', 'cloud-node-lifecycle-controller'].map((name) => ({
    name,
    component: '*',
  })),
};

/**
 * Reads `--leader-migration-config`; an empty path gives the default.
 * @throws OperatorError Invalid in upstream's words
 */
export function leaderMigrationOf(path: string): LeaderMigration {
  if (path === '') return DEFAULT_MIGRATION;
  let text: string;
  try {
    text = readSmallFile(path);
  } catch (cause) {
    const { message } = cause as Error;
    throw new OperatorError('Invalid', `unable to read leader migration configuration from ${JSON.stringify(path)}: ${message}`, { cause });
  }
  const migration = decode(contentOf(text, path));
  const problems = problemsOf(migration);
  if (problems.length > 0) throw invalid(`failed to parse leader migration configuration: [${problems.join(' ')}]`);
  return migration;
}

/**
 * The Lease that a controller needs: one that the list has not stays under the main one. The list may say aliases and upstream's older
 * names too: upstream compares the words, so that its own default list leaves services and routes to whoever leads.
 */
export function lockOf(controller: ControllerName, { controllerLeaders }: LeaderMigration): MigrationLock {
  const entry = controllerLeaders.find(({ name }) => namesOf(controller).includes(name));
  if (entry === undefined) return 'Main';
  return entry.component === '*' || entry.component === COMPONENT ? 'Migration' : 'Elsewhere';
}

/** `service-controller` was the name of `service-lb-controller`, and `route-controller` that of `node-route-controller`. */
function namesOf(controller: ControllerName): string[] {
  const alias = CONTROLLERS.find(({ name }) => name === controller)?.alias ?? controller;
  return [controller, alias, `${alias}-controller`];
}

function contentOf(text: string, path: string): unknown {
  try {
    return parse(text, { logLevel: 'error' });
  } catch (cause) {
    const reason = (cause as Error).message.split('\n')[0] ?? '';
    throw new OperatorError('Invalid', `${path} is not YAML or JSON: ${reason}`, { cause });
  }
}

/** Strict, as upstream decodes: what it doesn't know is a mistake. */
function decode(content: unknown): LeaderMigration {
  const { apiVersion, kind, ...fields } = recordOf(content, KIND);
  if (typeof kind !== 'string' || kind === '') throw invalid(`Object 'Kind' is missing in '${JSON.stringify(content)}'`);
  if (typeof apiVersion !== 'string' || apiVersion === '') throw invalid(`Object 'apiVersion' is missing in '${JSON.stringify(content)}'`);
  if (!VERSIONS.includes(apiVersion) || kind !== KIND)
    throw invalid(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}: it must be ${KIND} of ${VERSIONS[0]}`,
    );
  const leaders = listOf(fields.controllerLeaders);
  const unknown = [
    ...unknownFields(fields, FIELDS, ''),
    ...leaders.flatMap((leader, index) => unknownFields(leader, LEADER_FIELDS, `controllerLeaders[${index}].`)),
  ];
  if (unknown.length > 0) throw invalid(`strict decoding error: ${unknown.map((field) => `unknown field "${field}"`).join(', ')}`);
  return {
    leaderName: textOf(fields, 'leaderName'),
    resourceLock: textOf(fields, 'resourceLock'),
    controllerLeaders: leaders.map((leader) => ({ name: textOf(leader, 'name'), component: textOf(leader, 'component') })),
  };
}

function problemsOf({ leaderName, resourceLock, controllerLeaders }: LeaderMigration): string[] {
  const required = (field: string, message: string): string => `${field}: Required value: ${message}`;
  return [
    ...(leaderName === '' ? [required('leaderName', `leaderName must be set for ${KIND}`)] : []),
    ...(['leases', 'endpoints'].includes(resourceLock)
      ? []
      : [`resourceLock: Invalid value: ${JSON.stringify(resourceLock)}: resource Lock must be one of 'leases' or 'endpoints'`]),
    ...controllerLeaders.flatMap(({ name, component }, index) => [
      ...(component === '' ? [required(`controllerLeaders[${index}].component`, 'component must be set')] : []),
      ...(name === '' ? [required(`controllerLeaders[${index}].name`, 'name must be set')] : []),
    ]),
  ];
}

function recordOf(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw invalid(`strict decoding error: ${what} must be a map, not ${JSON.stringify(value)}`);
}

function listOf(value: unknown): Record<string, unknown>[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalid('strict decoding error: controllerLeaders must be a list');
  return value.map((one, index) => recordOf(one, `controllerLeaders[${index}]`));
}

function textOf(fields: Record<string, unknown>, field: string): string {
  const value = fields[field] ?? '';
  if (typeof value !== 'string') throw invalid(`strict decoding error: ${field} must be a text, not ${JSON.stringify(value)}`);
  return value;
}

function unknownFields(fields: Record<string, unknown>, known: readonly string[], path: string): string[] {
  return Object.keys(fields)
    .filter((field) => !known.includes(field))
    .map((field) => path + field);
}

function invalid(message: string): OperatorError {
  return new OperatorError('Invalid', message);
}
