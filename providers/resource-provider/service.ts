import { Empty } from 'google-protobuf/google/protobuf/empty_pb';
import { PluginInfo } from '@pulumi/pulumi/proto/plugin_pb';
import {
  type CheckRequest,
  CheckResponse,
  ConfigureResponse,
  type CreateRequest,
  CreateResponse,
  type DeleteRequest,
  type DiffRequest,
  DiffResponse,
  GetSchemaResponse,
  PropertyDiff,
  ProviderHandshakeResponse,
  type ReadRequest,
  ReadResponse,
  type UpdateRequest,
  UpdateResponse,
} from '@pulumi/pulumi/proto/provider_pb';
import { OperatorError } from '../../operator/base/errors';
import type { Json, JsonObject } from '../../operator/base/json';
import { OWN_PACKAGE } from './own-package';
import { needsReplacement, propertyChanges, type PropertyChange } from './diff';
import { foreseen } from './preview';
import { conceal, fromStruct, hasUnknown, reveal, toStruct } from './properties';
import type { ResourceContext, ResourceProvider, ResourceType } from './resource-provider';
import type { ResourceFailure } from './status';

export interface OperationContext {
  provider: ResourceProvider;
  /** Aborted when the update ends, or some time after the engine canceled. */
  signal: AbortSignal;
  cancel: () => void;
}

/** One method of the gRPC service. */
export interface Operation {
  /** Set where a failure is a resource's. */
  name?: ResourceFailure['operation'];
  urnOf?: (request: unknown) => string;
  /** May give a promise. */
  run: (request: unknown) => unknown;
}

interface ResourceRequest {
  getUrn(): string;
}

/** The methods of pulumirpc.ResourceProvider that the engine calls for custom resources; all others answer UNIMPLEMENTED. */
export function operations(context: OperationContext): Record<string, Operation> {
  const resource = <Request extends ResourceRequest>(
    name: ResourceFailure['operation'],
    run: (request: Request, type: ResourceType) => unknown,
  ): Operation => ({
    name,
    urnOf: (request) => (request as Request).getUrn(),
    run: (request) => run(request as Request, typeOf(context.provider, (request as Request).getUrn())),
  });
  return {
    handshake: { run: handshake },
    attach: { run: () => new Empty() },
    getPluginInfo: { run: () => pluginInfo(context.provider) },
    getSchema: { run: () => new GetSchemaResponse().setSchema(schema(context.provider)) },
    checkConfig: { run: (request) => new CheckResponse().setInputs((request as CheckRequest).getNews()) },
    diffConfig: { run: () => new DiffResponse().setChanges(DiffResponse.DiffChanges.DIFF_NONE) },
    configure: { name: 'configure', run: configure },
    cancel: { run: () => canceled(context) },
    check: resource('check', check),
    diff: resource('check', diff),
    create: resource('create', (request: CreateRequest, type) => create(request, type, context.signal)),
    read: resource('read', (request: ReadRequest, type) =>
      context.provider.package === OWN_PACKAGE ? asStored(request) : read(request, type, context.signal),
    ),
    update: resource('update', (request: UpdateRequest, type) => update(request, type, context.signal)),
    delete: resource('delete', (request: DeleteRequest, type) => remove(request, type, context.signal)),
  };
}

function handshake(): ProviderHandshakeResponse {
  return new ProviderHandshakeResponse().setAcceptSecrets(true).setAcceptResources(false).setAcceptOutputs(false);
}

function configure(): ConfigureResponse {
  return new ConfigureResponse().setAcceptsecrets(true).setSupportspreview(true).setAcceptresources(false).setAcceptoutputs(false);
}

function pluginInfo(provider: ResourceProvider): PluginInfo {
  const info = new PluginInfo();
  info.setVersion(provider.version);
  return info;
}

function schema(provider: ResourceProvider): string {
  const resources = Object.fromEntries(provider.types.map((type) => [type.token, { type: 'object' }]));
  return JSON.stringify({ name: provider.package, version: provider.version, resources });
}

function canceled(context: OperationContext): Empty {
  context.cancel();
  return new Empty();
}

function check(request: CheckRequest, type: ResourceType): CheckResponse {
  const raw = withKept(fromStruct(request.getOlds()), fromStruct(request.getNews()), type);
  const inputs = reveal(raw);
  const problems = (type.check?.(inputs) ?? []).filter((problem) => !hasUnknown(inputs[problem.property.split(/[.[]/)[0] ?? '']));
  const first = problems[0];
  if (first !== undefined) {
    const text = problems.map((problem) => `${problem.property}: ${problem.reason}`).join('; ');
    throw new OperatorError('Invalid', `${type.token} "${request.getName()}": ${text}`, {
      field: first.property,
      resource: request.getUrn(),
    });
  }
  if (!Object.values(inputs).some(hasUnknown)) type.noted?.(inputs);
  return new CheckResponse().setInputs(toStruct(raw));
}

/** The new inputs with what stays as it is in place of what was asked for. Pure. */
export function withKept(olds: JsonObject, news: JsonObject, type: ResourceType): JsonObject {
  const kept = type.keep?.(olds, news) ?? {};
  const entries = Object.entries({ ...news, ...kept }).filter((entry): entry is [string, Json] => entry[1] !== undefined);
  return Object.fromEntries(entries);
}

function diff(request: DiffRequest, type: ResourceType): DiffResponse {
  const olds = reveal(fromStruct(request.getOldInputs()));
  const changes = propertyChanges(olds, reveal(fromStruct(request.getNews())));
  const replaces = [...new Set(changes.filter((change) => needsReplacement(change, type)).map(({ property }) => property))];
  if (replaces.length > 0) type.assertReplaceable?.(olds, replaces, { urn: request.getUrn(), name: request.getName() });
  const response = new DiffResponse()
    .setChanges(changes.length === 0 ? DiffResponse.DiffChanges.DIFF_NONE : DiffResponse.DiffChanges.DIFF_SOME)
    .setDiffsList([...new Set(changes.map((change) => change.property))])
    .setReplacesList(replaces)
    .setDeletebeforereplace(replaces.length > 0 && type.deleteBeforeReplace === true)
    .setHasdetaileddiff(true);
  for (const change of changes) {
    const kind = diffKind(change, replaces.includes(change.property));
    response.getDetaileddiffMap().set(change.path, new PropertyDiff().setKind(kind).setInputdiff(true));
  }
  return response;
}

function diffKind(change: PropertyChange, replaces: boolean): PropertyDiff.Kind {
  const { Kind } = PropertyDiff;
  if (change.kind === 'Add') return replaces ? Kind.ADD_REPLACE : Kind.ADD;
  if (change.kind === 'Delete') return replaces ? Kind.DELETE_REPLACE : Kind.DELETE;
  return replaces ? Kind.UPDATE_REPLACE : Kind.UPDATE;
}

async function create(request: CreateRequest, type: ResourceType, signal: AbortSignal): Promise<CreateResponse> {
  const raw = fromStruct(request.getProperties());
  if (request.getPreview()) {
    const outputs = await foreseen({ inputs: raw }, type, contextOf(request, signal));
    return new CreateResponse().setId('').setProperties(toStruct(outputs));
  }
  const { id, outputs } = await type.create(known(raw, request), contextOf(request, signal));
  return new CreateResponse().setId(id).setProperties(toStruct(conceal(outputs, raw)));
}

async function read(request: ReadRequest, type: ResourceType, signal: AbortSignal): Promise<ReadResponse> {
  const found = await type.read(request.getId(), contextOf(request, signal));
  // An empty id tells the engine that the resource is gone.
  if (found === undefined) return new ReadResponse().setId('');
  const like = { ...fromStruct(request.getProperties()), ...fromStruct(request.getInputs()) };
  return new ReadResponse()
    .setId(request.getId())
    .setInputs(toStruct(conceal(found.inputs, like)))
    .setProperties(toStruct(conceal(found.outputs, like)));
}

/** A refresh is for what an official plugin serves: types of ours are compared with the cloud by discovery, and stay as the state has them. */
function asStored(request: ReadRequest): ReadResponse {
  return new ReadResponse().setId(request.getId()).setInputs(request.getInputs()).setProperties(request.getProperties());
}

async function update(request: UpdateRequest, type: ResourceType, signal: AbortSignal): Promise<UpdateResponse> {
  const raw = fromStruct(request.getNews());
  const context = contextOf(request, signal);
  if (request.getPreview()) {
    const outputs = await foreseen({ inputs: raw, olds: fromStruct(request.getOlds()) }, type, context);
    return new UpdateResponse().setProperties(toStruct(outputs));
  }
  const olds = reveal(fromStruct(request.getOlds()));
  const { outputs } = await type.update(request.getId(), olds, known(raw, request), context);
  return new UpdateResponse().setProperties(toStruct(conceal(outputs, raw)));
}

async function remove(request: DeleteRequest, type: ResourceType, signal: AbortSignal): Promise<Empty> {
  await type.delete(request.getId(), contextOf(request, signal), reveal(fromStruct(request.getProperties())));
  return new Empty();
}

/** Inputs for a write: everything must be known by now. */
function known(raw: JsonObject, request: { getUrn(): string; getName(): string }): JsonObject {
  const unknown = Object.keys(raw).find((key) => hasUnknown(raw[key]));
  if (unknown === undefined) return reveal(raw);
  throw new OperatorError('Unknown', `property "${unknown}" of "${request.getName()}" is not known at the time of the write`, {
    field: unknown,
    resource: request.getUrn(),
  });
}

function contextOf(request: { getUrn(): string; getName(): string }, signal: AbortSignal): ResourceContext {
  return { urn: request.getUrn(), name: request.getName(), signal };
}

function typeOf(provider: ResourceProvider, urn: string): ResourceType {
  // urn:pulumi:<stack>::<project>::<parent types>$<type>::<name>
  const token = urn.split('::')[2]?.split('$').at(-1) ?? '';
  const type = provider.types.find((candidate) => candidate.token === token);
  if (type === undefined) {
    throw new OperatorError('Invalid', `provider ${provider.package} has no resource type "${token}"`, { resource: urn });
  }
  return type;
}
