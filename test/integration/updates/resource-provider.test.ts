import { spawn } from 'node:child_process';
import { credentials, type ServiceError, status } from '@grpc/grpc-js';
import { ResourceProviderClient } from '@pulumi/pulumi/proto/provider_grpc_pb';
import {
  CheckRequest,
  ConfigureRequest,
  CreateRequest,
  DeleteRequest,
  DiffRequest,
  DiffResponse,
  GetSchemaRequest,
  PropertyDiff,
  ReadRequest,
  UpdateRequest,
} from '@pulumi/pulumi/proto/provider_pb';
import { Empty } from 'google-protobuf/google/protobuf/empty_pb';
import { Struct } from 'google-protobuf/google/protobuf/struct_pb';
import { OperatorError } from '../../../operator/base/errors';
import type { JsonObject } from '../../../operator/base/json';
import type { ResourceContext, ResourceType } from '../../../providers/resource-provider/resource-provider';
import { ResourceProviderServer } from '../../../providers/resource-provider/server';
import type { ResourceFailure } from '../../../providers/resource-provider/status';

const URN = 'urn:pulumi:s::p::x:index:Parent$x:index:Thing::thing';
const UNKNOWN = '04da6b54-80e4-46f7-96ec-b56ff0331ba9';
const secret = (value: string): JsonObject => ({ '4dabf18193072939515e22adb298388d': '1b47061264138c4ac30d75fd1eb44270', value });

const seen: { inputs: JsonObject; context: ResourceContext }[] = [];
const noted: JsonObject[] = [];
const type: ResourceType = {
  token: 'x:index:Thing',
  replaceOn: ['zone'],
  deleteBeforeReplace: true,
  check: (inputs) => (inputs.port === 0 ? [{ property: 'port', reason: 'must not be 0' }] : []),
  noted: (inputs) => void noted.push(inputs),
  create: (inputs, context) => {
    seen.push({ inputs, context });
    if (inputs.port === 666) throw new OperatorError('Quota', 'too many things', { remedy: 'ask for more' });
    return Promise.resolve({ id: 'id-1', outputs: { ...inputs, address: '10.0.0.1' } });
  },
  read: (id) =>
    Promise.resolve(id === 'gone' ? undefined : { inputs: { port: 1, password: 'x' }, outputs: { port: 1, password: 'x', address: 'y' } }),
  update: (_id, olds, news) => Promise.resolve({ outputs: { ...olds, ...news } }),
  delete: (id, { signal }) =>
    id === 'slow'
      ? new Promise((_, reject) => signal.addEventListener('abort', () => reject(new OperatorError('Canceled', 'aborted'))))
      : Promise.resolve(),
};

/** One that nobody may replace. */
const lasting: ResourceType = {
  ...type,
  token: 'x:index:Lasting',
  assertReplaceable: ({ zone }, properties, { urn, name }) => {
    const message = `${name}: ${properties.join()} was ${zone as string}`;
    throw new OperatorError('Invalid', message, { resource: urn, reason: 'ReplacementRefused' });
  },
};

/** One that makes nothing. */
const choice: ResourceType = {
  ...type,
  token: 'x:index:Choice',
  foresee: ({ of: all }) => Promise.resolve({ chosen: (all as string[])[0]! }),
};

const failures: ResourceFailure[] = [];
let enginePid: number | undefined = process.pid;
const server = new ResourceProviderServer(
  { package: 'x', version: '1.2.3', types: [type, choice, lasting] },
  { onFailure: (failure) => void failures.push(failure), enginePid: () => enginePid, cancelGraceMs: 50 },
);
const clients: ResourceProviderClient[] = [];

function connect(): ResourceProviderClient {
  // A pool of its own: otherwise all clients share one connection.
  const options = { 'grpc.use_local_subchannel_pool': 1 };
  const client = new ResourceProviderClient(`127.0.0.1:${server.attachment.split(':')[1]}`, credentials.createInsecure(), options);
  clients.push(client);
  return client;
}

type Name = 'getPluginInfo' | 'configure' | 'getSchema' | 'check' | 'diff' | 'create' | 'read' | 'update' | 'delete' | 'cancel';

function ask<Response>(name: Name, request: object, on = clients[0] as ResourceProviderClient): Promise<Response> {
  type Method = (request: object, callback: (error: ServiceError | null, response: Response) => void) => unknown;
  return new Promise((resolve, reject) => {
    (on[name] as unknown as Method).call(on, request, (error, response) => (error === null ? resolve(response) : reject(error)));
  });
}

const struct = (value: JsonObject): Struct => Struct.fromJavaScript(value);

beforeAll(async () => {
  await server.listen();
  connect();
});
beforeEach(() => failures.splice(0));
afterAll(() => {
  clients.forEach((client) => client.close());
  server.close();
});

describe('our resource provider over gRPC', () => {
  test('says what it is and what it takes', async () => {
    expect((await ask<{ getVersion(): string }>('getPluginInfo', new Empty())).getVersion()).toBe('1.2.3');
    const configured = await ask<{ toObject(): object }>('configure', new ConfigureRequest());
    expect(configured.toObject()).toMatchObject({ acceptsecrets: true, supportspreview: true, acceptoutputs: false });
    const schema = await ask<{ getSchema(): string }>('getSchema', new GetSchemaRequest());
    expect(JSON.parse(schema.getSchema())).toMatchObject({ name: 'x', resources: { 'x:index:Thing': {} } });
  });

  test('check: keeps secrets, names the property, does not judge unknown values', async () => {
    const check = (request: object, on?: ResourceProviderClient) => ask<{ getInputs(): Struct }>('check', request, on);
    const good = await check(
      new CheckRequest()
        .setUrn(URN)
        .setName('thing')
        .setNews(struct({ port: 1, password: secret('x') })),
    );
    expect(good.getInputs().toJavaScript()).toEqual({ port: 1, password: secret('x') });
    await check(new CheckRequest().setUrn(URN).setNews(struct({ port: UNKNOWN })));
    await expect(
      check(
        new CheckRequest()
          .setUrn(URN)
          .setName('thing')
          .setNews(struct({ port: 0 })),
      ),
    ).rejects.toMatchObject({ code: status.INVALID_ARGUMENT });
    expect(failures[0]).toMatchObject({ urn: URN, operation: 'check', error: { code: 'Invalid', field: 'port' } });
    // Only what is known as a whole, and good.
    expect(noted).toEqual([{ port: 1, password: 'x' }]);
  });

  test('diff: exactly the changed properties, replacement where the type says so', async () => {
    const diff = (request: object, on?: ResourceProviderClient) => ask<DiffResponse>('diff', request, on);
    const between = (olds: JsonObject, news: JsonObject): Promise<DiffResponse> =>
      diff(new DiffRequest().setUrn(URN).setOldInputs(struct(olds)).setNews(struct(news)));
    const none = await between({ a: [1], s: secret('x') }, { a: [1], s: 'x' });
    expect(none.getChanges()).toBe(DiffResponse.DiffChanges.DIFF_NONE);
    const some = await between({ listeners: [{ port: 1 }], zone: 'a' }, { listeners: [{ port: 2 }], zone: 'a' });
    expect([some.getDiffsList(), some.getReplacesList(), some.getDeletebeforereplace()]).toEqual([['listeners'], [], false]);
    expect(some.getDetaileddiffMap().get('listeners[0].port')?.getKind()).toBe(PropertyDiff.Kind.UPDATE);
    const replace = await between({ zone: 'a' }, { zone: UNKNOWN });
    expect([replace.getReplacesList(), replace.getDeletebeforereplace()]).toEqual([['zone'], true]);
    expect(replace.getDetaileddiffMap().get('zone')?.getKind()).toBe(PropertyDiff.Kind.UPDATE_REPLACE);
  });

  test('diff: what must not be replaced says so, and what is changed in place is not asked', async () => {
    const urn = 'urn:pulumi:s::p::x:index:Lasting::lasting';
    const request = (news: JsonObject): DiffRequest =>
      new DiffRequest()
        .setUrn(urn)
        .setName('lasting')
        .setOldInputs(struct({ zone: 'a', port: 1 }))
        .setNews(struct(news));
    expect((await ask<DiffResponse>('diff', request({ zone: 'a', port: 2 }))).getDiffsList()).toEqual(['port']);
    await expect(ask('diff', request({ zone: 'b', port: 2 }))).rejects.toMatchObject({ code: status.INVALID_ARGUMENT });
    const error = { code: 'Invalid', reason: 'ReplacementRefused', message: 'lasting: zone was a' };
    expect(failures).toMatchObject([{ urn, operation: 'check', error }]);
  });

  test('create: secrets in clear to the type, marked again in the outputs', async () => {
    const create = (request: object, on?: ResourceProviderClient) =>
      ask<{ getId(): string; getProperties(): Struct }>('create', request, on);
    const made = await create(
      new CreateRequest()
        .setUrn(URN)
        .setName('thing')
        .setProperties(struct({ port: 1, password: secret('x') })),
    );
    expect(seen.at(-1)).toMatchObject({ inputs: { port: 1, password: 'x' }, context: { urn: URN, name: 'thing' } });
    expect([made.getId(), made.getProperties().toJavaScript()]).toEqual(['id-1', { port: 1, password: secret('x'), address: '10.0.0.1' }]);
  });

  test('a preview makes nothing; a write with an unknown value is refused', async () => {
    const create = (request: object, on?: ResourceProviderClient) =>
      ask<{ getId(): string; getProperties(): Struct }>('create', request, on);
    const before = seen.length;
    const planned = await create(
      new CreateRequest()
        .setUrn(URN)
        .setPreview(true)
        .setProperties(struct({ port: UNKNOWN })),
    );
    expect([planned.getId(), planned.getProperties().toJavaScript()]).toEqual(['', { port: UNKNOWN }]);
    await expect(
      create(
        new CreateRequest()
          .setUrn(URN)
          .setName('thing')
          .setProperties(struct({ port: UNKNOWN })),
      ),
    ).rejects.toThrow(/"port" of "thing" is not known/);
    const update = (request: object, on?: ResourceProviderClient) => ask<{ getProperties(): Struct }>('update', request, on);
    const changed = await update(
      new UpdateRequest()
        .setUrn(URN)
        .setPreview(true)
        .setOlds(struct({ address: 'y', port: 1 }))
        .setNews(struct({ port: 2 })),
    );
    expect(changed.getProperties().toJavaScript()).toEqual({ address: 'y', port: 2 });
    expect(seen.length).toBe(before);
  });

  test('a preview of what makes nothing has what it would give, unless an input is unknown', async () => {
    const planned = async (properties: JsonObject): Promise<unknown> => {
      const request = new CreateRequest()
        .setUrn('urn:pulumi:s::p::x:index:Choice::choice')
        .setPreview(true)
        .setProperties(struct(properties));
      return (await ask<{ getProperties(): Struct }>('create', request)).getProperties().toJavaScript();
    };
    expect(await planned({ of: ['a', 'b'] })).toEqual({ of: ['a', 'b'], chosen: 'a' });
    expect(await planned({ of: ['a', UNKNOWN] })).toEqual({ of: ['a', UNKNOWN] });
  });

  test('read: what is gone has no id; secrets stay secret', async () => {
    const read = (request: object, on?: ResourceProviderClient) =>
      ask<{ getId(): string; getInputs(): Struct; getProperties(): Struct }>('read', request, on);
    expect((await read(new ReadRequest().setUrn(URN).setId('gone'))).getId()).toBe('');
    const found = await read(
      new ReadRequest()
        .setUrn(URN)
        .setId('id-1')
        .setInputs(struct({ port: 1, password: secret('old') })),
    );
    expect(found.getInputs().toJavaScript()).toEqual({ port: 1, password: secret('x') });
    expect(found.getProperties().toJavaScript()).toEqual({ port: 1, password: secret('x'), address: 'y' });
  });

  test('an error reaches the engine as text and the operator as it was', async () => {
    const create = (request: object, on?: ResourceProviderClient) => ask<unknown>('create', request, on);
    await expect(create(new CreateRequest().setUrn(URN).setProperties(struct({ port: 666 })))).rejects.toMatchObject({
      code: status.RESOURCE_EXHAUSTED,
      details: 'too many things; ask for more',
    });
    expect(failures).toMatchObject([{ urn: URN, operation: 'create', error: { code: 'Quota', remedy: 'ask for more' } }]);
    const other = new CreateRequest().setUrn('urn:pulumi:s::p::x:index:Other::o');
    await expect(create(other)).rejects.toThrow(/provider x has no resource type "x:index:Other"/);
  });

  test('only the engine’s own connections are served', async () => {
    const stranger = spawn('sleep', ['60']);
    enginePid = stranger.pid;
    const foreign = connect();
    const create = (request: object, on?: ResourceProviderClient) => ask<unknown>('create', request, on);
    const before = seen.length;
    await expect(create(new CreateRequest().setUrn(URN).setProperties(struct({})), foreign)).rejects.toMatchObject({
      code: status.PERMISSION_DENIED,
    });
    expect(seen.length).toBe(before);
    stranger.kill('SIGKILL');
    enginePid = process.pid;
  });

  // The last one: it ends what the provider does.
  test('cancel aborts what is still in flight after the grace period', async () => {
    const slow = expect(ask<Empty>('delete', new DeleteRequest().setUrn(URN).setId('slow'))).rejects.toThrow(/aborted/);
    await ask<unknown>('getPluginInfo', new Empty());
    await ask<Empty>('cancel', new Empty());
    await slow;
  });
});
