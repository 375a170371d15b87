import { randomUUID } from 'node:crypto';
import { isStateOnly, writesNothing } from '../../providers/resource-provider/own-package';
import type { StackResource } from '../../crds';
import type { Json, JsonObject } from '../base/json';

/** A deployment as the engine stores it (apitype.UntypedDeployment). */
export interface Deployment {
  version: number;
  features?: string[];
  deployment: Checkpoint | null;
}

/** The content of a deployment; fields that we don't use are kept as they are. */
export interface Checkpoint {
  manifest: { time: string; magic: string; version: string };
  secrets_providers?: { type: string; state?: JsonObject };
  resources?: CheckpointResource[];
  pending_operations?: { type: string; resource: CheckpointResource }[];
  metadata?: JsonObject;
  [key: string]: unknown;
}

/** One resource in a checkpoint. */
export interface CheckpointResource {
  urn: string;
  type: string;
  custom: boolean;
  id?: string;
  inputs?: JsonObject;
  outputs?: JsonObject;
  parent?: string;
  provider?: string;
  dependencies?: string[];
  propertyDependencies?: Record<string, string[] | null>;
  deletedWith?: string;
  /** Former URNs. */
  aliases?: string[];
  protect?: boolean;
  /** Replaced already; the old one is still to be deleted. */
  delete?: boolean;
  /** Deleted already; the new one is still to be made. */
  pendingReplacement?: boolean;
  created?: string;
  modified?: string;
  sourcePosition?: string;
  stackTrace?: Json;
  [key: string]: unknown;
}

const STACK_TYPE = 'pulumi:pulumi:Stack';
const PROVIDER_PREFIX = 'pulumi:providers:';
/** Pulumi's mark of a special value in a checkpoint, and that of a secret. */
const SPECIAL = '4dabf18193072939515e22adb298388d';
const SECRET = '1b47061264138c4ac30d75fd1eb44270';

/** The name part of a URN. */
export function nameOfUrn(urn: string): string {
  return urn.split('::').slice(3).join('::');
}

/** The type part of a URN, with the types of its parents. */
export function typeOfUrn(urn: string): string {
  return urn.split('::')[2] ?? '';
}

/** What people call a type: `LoadBalancer` of `aws:lb/loadBalancer:LoadBalancer`, also where those of its parents are before it. Pure. */
export function shortType(type: string): string {
  return type.split(':').at(-1) ?? type;
}

export function isProvider({ type }: CheckpointResource): boolean {
  return type.startsWith(PROVIDER_PREFIX);
}

/** True for what stands for something in a cloud: custom, neither a provider nor a type of ours that is a state alone. */
export function isCloudResource(resource: CheckpointResource): boolean {
  return resource.custom && !isProvider(resource) && !isStateOnly(resource.type);
}

/** The living cloud resources, as CloudStack shows them. */
export function resourcesOf(deployment: Deployment | null): StackResource[] {
  const all = deployment?.deployment?.resources ?? [];
  return all
    .filter((resource) => isCloudResource(resource) && resource.delete !== true && resource.pendingReplacement !== true)
    .map(({ type, urn, id }) => ({ type, name: nameOfUrn(urn), id: id ?? '', urn }));
}

/** The stack's outputs; secret values are masked as `[secret]`. */
export function outputsOf(deployment: Deployment | null): JsonObject {
  const root = deployment?.deployment?.resources?.find((resource) => resource.type === STACK_TYPE);
  return (mask(root?.outputs ?? {}) ?? {}) as JsonObject;
}

/** True when nothing in the cloud depends on this checkpoint any more. */
export function isEmpty(deployment: Deployment | null): boolean {
  const checkpoint = deployment?.deployment;
  if (checkpoint === undefined || checkpoint === null) return true;
  return !(checkpoint.resources ?? []).some(isCloudResource) && (checkpoint.pending_operations ?? []).length === 0;
}

/**
 * The form in which a checkpoint is stored: without the places in the program's source (paths of this machine, half of the size; the engine
 * treats them as mere decoration) and without the address of the endpoint, which differs in every process.
 */
export function toStored(deployment: Deployment): Deployment {
  const checkpoint = deployment.deployment;
  if (checkpoint === null) return deployment;
  const bare = (resource: CheckpointResource): CheckpointResource => {
    const copy = { ...resource };
    delete copy.sourcePosition;
    delete copy.stackTrace;
    return copy;
  };
  return {
    ...deployment,
    deployment: {
      ...checkpoint,
      ...secretsAt(checkpoint, ''),
      ...(checkpoint.resources === undefined ? {} : { resources: checkpoint.resources.map(bare) }),
      ...(checkpoint.pending_operations === undefined
        ? {}
        : { pending_operations: checkpoint.pending_operations.map((operation) => ({ ...operation, resource: bare(operation.resource) })) }),
    },
  };
}

/** The stored form with this endpoint's address, to which the engine turns for secrets. */
export function toServed(deployment: Deployment, url: string): Deployment {
  if (deployment.deployment === null) return deployment;
  return { ...deployment, deployment: { ...deployment.deployment, ...secretsAt(deployment.deployment, url) } };
}

/** Equal but for the time in the manifest, and the order in which the program happened to register its resources: such a checkpoint need not be written. */
export function isSameCheckpoint(a: Deployment | null, b: Deployment | null): boolean {
  const essence = (deployment: Deployment | null): string => {
    const resources = (deployment?.deployment?.resources ?? []).map((resource) => JSON.stringify(resource)).sort();
    return JSON.stringify({ ...deployment, deployment: { ...deployment?.deployment, manifest: null, resources } });
  };
  return essence(a) === essence(b);
}

/**
 * Equal but for what writes nothing to a cloud, which are the stack itself, providers, barriers and choices: until the next write to the cloud nothing is lost
 * with the difference. Where a crash comes before, barriers wait anew, and what was chosen for nothing is chosen anew.
 */
export function isSameInCloud(a: Deployment | null, b: Deployment | null): boolean {
  const essence = (deployment: Deployment | null): string => {
    const { resources = [], pending_operations: pending = [] } = deployment?.deployment ?? {};
    const writing = resources.filter(mayWrite).map((resource) => JSON.stringify(resource));
    const begun = pending.filter(({ resource }) => mayWrite(resource)).map((operation) => JSON.stringify(operation));
    return JSON.stringify([writing.sort(), begun.sort()]);
  };
  return essence(a) === essence(b);
}

function mayWrite(resource: CheckpointResource): boolean {
  return resource.custom && !isProvider(resource) && !writesNothing(resource.type);
}

/** A checkpoint of a stack that the engine has not seen yet: its root and the default provider of one package. */
export function seedCheckpoint(project: string, stack: string, packages: string[]): Deployment {
  const root: CheckpointResource = { urn: rootUrn(project, stack), type: STACK_TYPE, custom: false };
  const providers = packages.map((name) => ({
    urn: `urn:pulumi:${stack}::${project}::${PROVIDER_PREFIX}${name}::default`,
    type: `${PROVIDER_PREFIX}${name}`,
    custom: true,
    id: randomUUID(),
  }));
  const manifest = { time: '0001-01-01T00:00:00Z', magic: '', version: '' };
  return { version: 3, deployment: { manifest, resources: [root, ...providers], metadata: {} } };
}

export function rootUrn(project: string, stack: string): string {
  return `urn:pulumi:${stack}::${project}::${STACK_TYPE}::${project}-${stack}`;
}

/** The URN that a program gives to a resource directly under the stack. */
export function urnOf(project: string, stack: string, type: string, name: string): string {
  return `urn:pulumi:${stack}::${project}::${type}::${name}`;
}

/** Reference to the provider that a resource of this type uses: `<URN>::<id>`. */
export function providerReference(resources: CheckpointResource[], type: string): string | undefined {
  const wanted = `${PROVIDER_PREFIX}${type.split(':')[0] ?? ''}`;
  const used = resources.find((resource) => resource.type === type && resource.provider !== undefined)?.provider;
  if (used !== undefined) return used;
  const provider = resources.find((resource) => resource.type === wanted);
  return provider === undefined ? undefined : `${provider.urn}::${provider.id ?? ''}`;
}

/** Inputs of the resource of that type and name; undefined = there is none, or it is only still to be deleted. Pure. */
export function inputsIn(deployment: Deployment | null, type: string, name: string): JsonObject | undefined {
  const all = deployment?.deployment?.resources ?? [];
  return all.find((resource) => resource.type === type && nameOfUrn(resource.urn) === name && resource.delete !== true)?.inputs;
}

export function isSecret(value: Json | undefined): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && value[SPECIAL] === SECRET;
}

function secretsAt(checkpoint: Checkpoint, url: string): Pick<Checkpoint, 'secrets_providers'> {
  const providers = checkpoint.secrets_providers;
  if (providers?.type !== 'service') return {};
  return { secrets_providers: { ...providers, state: { ...providers.state, url } } };
}

/** Resources with their secret values as a program gives them. @param decrypt gives the JSON text of a ciphertext in base64 */
export function revealed(resources: readonly CheckpointResource[], decrypt: (ciphertext: string) => string): CheckpointResource[] {
  const reveal = (secret: JsonObject): Json => ({ [SPECIAL]: SECRET, value: JSON.parse(decrypt(secret.ciphertext as string)) as Json });
  const all = (properties: JsonObject | undefined): JsonObject => secretsBy(properties ?? {}, reveal) as JsonObject;
  return resources.map((resource) => ({ ...resource, inputs: all(resource.inputs), outputs: all(resource.outputs) }));
}

function mask(value: Json): Json {
  return secretsBy(value, () => '[secret]');
}

/** The value with every secret in it changed. */
function secretsBy(value: Json, change: (secret: JsonObject) => Json): Json {
  if (isSecret(value)) return change(value as JsonObject);
  if (Array.isArray(value)) return value.map((item) => secretsBy(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, secretsBy(item, change)]));
}
