import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep, type Clock } from '../../../operator/base/clock';
import { OperatorError } from '../../../operator/base/errors';
import { retryAfterFailure } from '../../../operator/cloud/stack/retry-delay';
import { StackRetries } from '../../../operator/cloud/stack/stack-retries';
import type { CallGate, CallOutcome } from '../../../providers/call-gate';
import type { ArmClient } from '../../../providers/azure/client/arm-client';
import { endpointsIn, metadataURL } from '../../../providers/azure/client/clouds';
import type { AzureCredentials } from '../../../providers/azure/client/credentials';
import { AzureTokens } from '../../../providers/azure/client/tokens';
import type { ArmServer } from '../../harness/arm/arm-server';
import type { Application } from '../../harness/arm/identity';
import { LoopbackServer } from '../../harness/loopback-server';
import { clientOf, computeID, LOCATION, networkID, OPERATOR, startScene, SUBSCRIPTION } from '../../harness/arm/scene';

const TYPE = 'Microsoft.Network/publicIPAddresses';
const LIST = networkID('publicIPAddresses');
const pip = (name: string): string => networkID('publicIPAddresses', name);
const ADDRESS = { location: LOCATION, sku: { name: 'Standard' }, properties: {} };

interface Named {
  name: string;
  etag: string;
  properties: { provisioningState: string; ipAddress?: string };
}

/** A gate that lets everything through and notes how calls ended. */
function notingGate(): CallGate & { outcomes: CallOutcome[]; requestIDs: (string | undefined)[]; parts: (string | undefined)[] } {
  const outcomes: CallOutcome[] = [];
  const requestIDs: (string | undefined)[] = [];
  const parts: (string | undefined)[] = [];
  const settle = ({ requestID, ...outcome }: CallOutcome): void => {
    outcomes.push(outcome);
    requestIDs.push(requestID);
  };
  const acquire: CallGate['acquire'] = (_verb, _signal, part) => {
    parts.push(part);
    return Promise.resolve(settle);
  };
  return { outcomes, requestIDs, parts, acquire };
}

const failure = (work: Promise<unknown>): Promise<OperatorError> =>
  work.then(
    () => Promise.reject(new Error('it succeeded')),
    (thrown: unknown) => thrown as OperatorError,
  );

/** Time passes as soon as somebody waits for it. */
class HastyClock implements Clock {
  private at = 0;
  now = (): number => this.at;
  monotonic = (): number => this.at;

  after(ms: number, run: () => void): () => void {
    const waiting = setImmediate(() => {
      this.at += ms;
      run();
    });
    return () => clearImmediate(waiting);
  }
}

/** Answers with links that lead somewhere else. */
class Tempting extends LoopbackServer {
  constructor(private readonly elsewhere: string) {
    super();
  }

  protected serve(_request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.writeHead(200, { 'azure-asyncoperation': this.elsewhere, 'retry-after': '0' });
    response.end(JSON.stringify({ value: [], nextLink: this.elsewhere }));
    return Promise.resolve();
  }
}

describe('ArmClient', () => {
  let server: ArmServer;
  let client: ArmClient;
  let gate: ReturnType<typeof notingGate>;

  beforeEach(async () => {
    server = await startScene({ pageSize: 2 });
    gate = notingGate();
    client = clientOf(server, { calls: gate, budgetMs: 5_000 });
  });

  afterEach(async () => {
    await client.close();
    await server.stop();
  });

  test('makes, reads, changes, lists by pages and deletes; what is gone is gone', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await client.put(pip(name), ADDRESS, { only: 'absent' });
    expect((await client.get<Named>(pip('A')))?.properties.ipAddress).toBe('20.1.0.1');
    server.calls.length = 0;
    expect((await client.list<Named>(LIST, TYPE)).map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(server.calls.map(({ verb }) => verb)).toEqual(['list', 'list', 'list']);
    await client.remove(pip('a'));
    await client.remove(pip('a'));
    expect(await client.get(pip('a'))).toBeUndefined();
    expect(server.calls.filter(({ verb }) => verb === 'delete').map(({ status }) => status)).toEqual([200, 204]);
  });

  test('a whole resource group that is gone is no error for a delete, and is for the rest', async () => {
    const elsewhere = pip('a').replace('/cluster/', '/gone/');
    await client.remove(elsewhere);
    expect(await failure(client.put(elsewhere, ADDRESS))).toMatchObject({
      code: 'Invalid',
      message: expect.stringMatching(/Check resourceGroup/) as string,
    });
  });

  test('one page that fails fails the whole list', async () => {
    for (const name of ['a', 'b', 'c']) await client.put(pip(name), ADDRESS);
    server.failsLists = true;
    const error = await failure(client.list(LIST, TYPE));
    expect(error).toMatchObject({
      code: 'Credentials',
      message: expect.stringMatching(/Give the operator's identity a role that allows read there/) as string,
    });
  });

  test('a write under an etag is refused once somebody else has written', async () => {
    const { etag } = await client.put<Named>(pip('a'), ADDRESS);
    await client.put(pip('a'), ADDRESS, { only: { etag } });
    expect(await failure(client.put(pip('a'), ADDRESS, { only: { etag } }))).toMatchObject({
      code: 'Conflict',
      armCode: 'PreconditionFailed',
    });
    expect(await failure(client.put(pip('a'), ADDRESS, { only: 'absent' }))).toMatchObject({ code: 'Conflict' });
  });

  test('operations are followed to their end, and what is then there is given', async () => {
    server.cloud.operations.takesMs = 150;
    const made = await client.put<Named>(pip('a'), ADDRESS);
    expect(made.properties.provisioningState).toBe('Succeeded');
    await client.remove(pip('a'));
    expect(await client.get(pip('a'))).toBeUndefined();
  });

  test('a delete whose operation nobody knows any more is done when it is gone, and not while it is there', async () => {
    const { operations } = server.cloud;
    server.meanwhile = ({ path }) => {
      if (path.includes('/operations/')) operations.forget();
    };
    for (const name of ['a', 'b']) await client.put(pip(name), ADDRESS);
    operations.takesMs = 150;
    await client.remove(pip('a'));
    expect(server.cloud.find(pip('a'))).toBeUndefined();
    operations.failures.push({ code: 'InternalServerError', message: 'An error occurred.' });
    expect(await failure(client.remove(pip('b')))).toMatchObject({ code: 'Transient', message: /is there still/ as never });
    expect(server.cloud.find(pip('b'))).toBeDefined();
  });

  test('an operation that fails says so, with its code', async () => {
    server.cloud.operations.takesMs = 20;
    server.cloud.operations.failures.push({ code: 'PublicIPCountLimitReached', message: 'no more' });
    expect(await failure(client.put(pip('a'), ADDRESS))).toMatchObject({ code: 'Quota', armCode: 'PublicIPCountLimitReached' });
  });

  test('an operation that a later write has ended is a conflict', async () => {
    server.cloud.operations.takesMs = 300;
    const first = failure(client.put(pip('a'), ADDRESS));
    while (server.cloud.find(pip('a')) === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    await client.put(pip('a'), ADDRESS);
    expect(await first).toMatchObject({ code: 'Conflict', armCode: 'CanceledAndSupersededDueToAnotherOperation' });
  });

  test('too many calls: what Azure asks to wait is told to the account and kept, and the call then succeeds', async () => {
    server.throttle.buckets = { ...server.throttle.buckets, writes: { size: 1, perSecond: 2 } };
    await client.put(pip('a'), ADDRESS);
    await client.put(pip('b'), ADDRESS);
    expect(gate.outcomes).toEqual([
      { kind: 'Answered', left: 0 },
      { kind: 'Throttled', retryAfterMs: 1000 },
      { kind: 'Answered', left: 0 },
    ]);
  });

  test('what Compute says of its own limit is told as that of such lists alone', async () => {
    server.throttle.machines = { size: 2, perSecond: 1 / 60 };
    const machines = (): Promise<unknown[]> => client.list(computeID('virtualMachines'), 'Microsoft.Compute/virtualMachines');
    await machines();
    await machines();
    expect(await failure(machines())).toMatchObject({ code: 'Throttled', retryAfterMs: 60_000 });
    expect(gate.outcomes).toEqual([
      { kind: 'Answered', left: expect.any(Number) as number, leftOfPart: 1 },
      { kind: 'Answered', left: expect.any(Number) as number, leftOfPart: 0 },
      { kind: 'Throttled', retryAfterMs: 60_000, ofPart: true },
    ]);
    expect(gate.parts).toEqual(Array<string>(3).fill('microsoft.compute/virtualmachines'));
  });

  test('too many calls for longer than a call may take: the caller is told when to come again', async () => {
    server.throttle.buckets = { ...server.throttle.buckets, writes: { size: 1, perSecond: 1 / 60 } };
    await client.put(pip('a'), ADDRESS);
    expect(await failure(client.put(pip('b'), ADDRESS))).toMatchObject({ code: 'Throttled', retryAfterMs: 60_000 });
  });

  test('a resource that is busy is waited for, and says nothing against the account', async () => {
    server.cloud.operations.takesMs = 250;
    const making = client.put(pip('web'), ADDRESS);
    while (server.cloud.find(pip('web')) === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    const frontends = [{ name: 'a', properties: { publicIPAddress: { id: pip('web') } } }];
    const balancer = { location: LOCATION, sku: { name: 'Standard' }, properties: { frontendIPConfigurations: frontends } };
    await client.put(networkID('loadBalancers', 'lb'), balancer);
    await making;
    expect(server.calls.some(({ status }) => status === 429)).toBe(true);
    expect(gate.outcomes.filter(({ kind }) => kind !== 'Answered')).toEqual([]);
  });

  test('an answer that is lost is asked for again, except of a write that depends on what is there', async () => {
    server.lost = { verb: 'create', times: 1 };
    await client.put(pip('a'), ADDRESS);
    expect(server.calls.map(({ method, status }) => `${method} ${status}`)).toEqual(['PUT 201', 'PUT 200']);
    server.lost = { verb: 'create', times: 1 };
    expect(await failure(client.put(pip('b'), ADDRESS, { only: 'absent' }))).toMatchObject({ code: 'Transient' });
    const { etag } = (await client.get<Named>(pip('b'))) ?? { etag: '' };
    server.lost = { verb: 'update', times: 1 };
    expect(await failure(client.put(pip('b'), ADDRESS, { only: { etag } }))).toMatchObject({ code: 'Transient' });
  });

  test('who may not write any more writes nothing, and still reads', async () => {
    await client.put(pip('a'), ADDRESS);
    server.calls.length = 0;
    const assertValid = (): never => {
      throw new OperatorError('Canceled', 'the lease is gone');
    };
    const writes = [
      () => client.put(pip('b'), ADDRESS, { assertValid }),
      () => client.patch(pip('a'), { tags: {} }, { assertValid }),
      () => client.remove(pip('a'), { assertValid }),
    ];
    for (const write of writes) expect(await failure(write())).toMatchObject({ code: 'Canceled' });
    expect(server.calls).toEqual([]);
    expect(await client.get(pip('a'), { assertValid })).toBeDefined();
  });

  test('a token that is refused is renewed once; without a new one the account is refused', async () => {
    await client.get(pip('a'));
    server.identity.revoke();
    await client.get(pip('a'));
    expect(gate.outcomes.map(({ kind }) => kind)).toEqual(['Answered', 'Unanswered', 'Answered']);
    gate.outcomes.length = 0;
    const stuck = clientOf(server, { calls: gate, token: () => Promise.resolve('old'), refused: () => undefined });
    expect(await failure(stuck.get(pip('a')))).toMatchObject({ code: 'Credentials', armCode: 'InvalidAuthenticationToken' });
    expect(gate.outcomes).toEqual([{ kind: 'Refused', message: expect.stringContaining('InvalidAuthenticationToken') as string }]);
    await stuck.close();
  });

  test('a token that is refused, and no other one to be had: what Entra says of the credentials is told', async () => {
    await client.get(pip('a'));
    gate.outcomes.length = 0;
    server.identity.revoke();
    server.identity.expired.add(OPERATOR.secret ?? '');
    expect(await failure(client.get(pip('a')))).toMatchObject({
      code: 'Credentials',
      message: /AADSTS7000222.*has expired: make a new one/ as never,
    });
    expect(gate.outcomes).toEqual([{ kind: 'Refused', message: expect.stringContaining('AADSTS7000222') as string }]);
  });

  test('credentials that are refused are told to the account, with what to do', async () => {
    const tokens = tokensOf({ kind: 'ClientSecret', tenantID: 'tenant', clientID: 'operator', clientSecret: 'old' });
    const refused = clientOf(server, { calls: gate, token: async () => (await tokens.token()).value });
    expect(await failure(refused.get(pip('a')))).toMatchObject({ code: 'Credentials' });
    expect(gate.outcomes).toEqual([
      { kind: 'Refused', message: expect.stringContaining('Write the value of the client secret') as string },
    ]);
    await refused.close();
  });

  test('errors have the code, the words and the request’s id', async () => {
    server.cloud.locks.set('cluster', 'ReadOnly');
    const error = await failure(client.put(pip('a'), ADDRESS));
    expect(error.message).toMatch(
      /^Azure, PUT \/subscriptions\/.*\/publicIPAddresses\/a: ScopeLocked: .* \(request [0-9a-f-]{36}\)\. Remove the lock/,
    );
    expect(error.code).toBe('Credentials');
  });

  test('the account is told Azure’s id of each request that was answered, also of one that was refused', async () => {
    await client.get(pip('a'));
    server.cloud.locks.set('cluster', 'ReadOnly');
    const { message } = await failure(client.put(pip('a'), ADDRESS));
    const [read, write] = gate.requestIDs;
    expect(read).toMatch(/^[0-9a-f-]{36}$/);
    expect(message).toContain(`(request ${write})`);
    const unheard = clientOf(server, { calls: gate, budgetMs: 0, token: () => Promise.resolve('any') });
    await server.stop();
    await failure(unheard.get(pip('a')));
    expect(gate.requestIDs.at(-1)).toBeUndefined();
    await unheard.close();
    await server.start();
  });

  test('no token goes to anybody but the resource manager, whatever an answer says', async () => {
    const tempting = new Tempting(`${server.url}/subscriptions`);
    await tempting.start();
    const trusting = clientOf(server, { resourceManager: tempting.url, token: () => Promise.resolve('secret') });
    server.calls.length = 0;
    expect(await failure(trusting.list(LIST, TYPE))).toMatchObject({ message: expect.stringContaining('which is not below') as string });
    expect(await failure(trusting.put(pip('a'), ADDRESS))).toMatchObject({
      message: expect.stringContaining('which is not below') as string,
    });
    expect(server.calls).toEqual([]);
    await trusting.close();
    await tempting.stop();
  });

  test('Azure answers 503 for an hour: each call ends within its budget, fewer and fewer come, and the first one after that is carried out', async () => {
    const clock = new HastyClock();
    const patient = clientOf(server, { clock, random: () => 0.5, budgetMs: 20_000 });
    const retries = new StackRetries(clock, (error, streak) => retryAfterFailure(error, streak, { failures: 10, ms: 600_000 }, 0));
    server.isDown = true;
    for (const start = clock.monotonic(); clock.monotonic() - start < 3_600_000;) {
      const began = clock.monotonic();
      const error = await failure(patient.put(pip('a'), ADDRESS));
      expect(error).toMatchObject({ code: 'Transient', armCode: 'ServiceUnavailable' });
      expect(clock.monotonic() - began).toBeLessThanOrEqual(20_000);
      await sleep(clock, retries.failed('stack', error).delayMs);
    }
    expect(server.calls.length).toBeLessThan(400);
    server.isDown = false;
    await patient.put(pip('a'), ADDRESS);
    expect(server.calls.at(-1)?.status).toBe(201);
    await patient.close();
  });

  test('nothing answers: the way to it is named', async () => {
    server.isDown = true;
    const quick = clientOf(server, { budgetMs: 200, calls: gate });
    expect(await failure(quick.get(pip('a')))).toMatchObject({ code: 'Transient', armCode: 'ServiceUnavailable' });
    expect(gate.outcomes.every(({ kind }) => kind === 'Unanswered')).toBe(true);
    await quick.close();
    server.isDown = false;
    server.isSilent = true;
    const impatient = clientOf(server, { budgetMs: 200, answerMs: 200, token: () => Promise.resolve('any') });
    expect(await failure(impatient.get(pip('a')))).toMatchObject({
      code: 'Transient',
      message: /GET .*: no answer came in time .* Check the way to/ as never,
    });
    await impatient.close();
    const { url } = server;
    const nobody = clientOf(server, { resourceManager: url, budgetMs: 200, token: () => Promise.resolve('any') });
    await server.stop();
    expect(await failure(nobody.get(pip('a')))).toMatchObject({
      code: 'Transient',
      message: expect.stringContaining(`Check the way to ${url}`) as string,
    });
    await nobody.close();
    await server.start();
  });

  test('machines, those of scale sets and their interfaces are listed; run-time state where it is asked for', async () => {
    const instanceView = { statuses: [{ code: 'PowerState/running' }] };
    server.cloud.seed(computeID('virtualMachines', 'm'), { location: LOCATION, properties: { instanceView } });
    server.cloud.seed(computeID('virtualMachineScaleSets', 's'), { location: LOCATION, properties: {} });
    const inSet = computeID('virtualMachineScaleSets', 's', 'virtualMachines', '0');
    server.cloud.seed(inSet, { location: LOCATION, properties: { instanceView } });
    server.cloud.seed(`${inSet}/networkInterfaces/nic`, { properties: {} });
    const machines = `/subscriptions/${SUBSCRIPTION}/providers/Microsoft.Compute/virtualMachines`;
    expect(await client.list<Named>(machines, 'Microsoft.Compute/virtualMachines')).toMatchObject([{ name: 'm', properties: {} }]);
    const query = { $expand: 'instanceView' };
    expect(await failure(client.list(machines, 'Microsoft.Compute/virtualMachines', { query }))).toMatchObject({
      armCode: 'InvalidParameter',
    });
    const set = computeID('virtualMachineScaleSets', 's');
    const type = 'Microsoft.Compute/virtualMachineScaleSets';
    const [found] = await client.list<{ properties: object }>(`${set}/virtualMachines`, `${type}/virtualMachines`, { query });
    expect(found?.properties).toMatchObject({ instanceView });
    const interfaces = await client.list<Named>(`${set}/networkInterfaces`, `${type}/networkInterfaces`);
    expect(interfaces.map(({ name }) => name)).toEqual(['nic']);
  });

  function tokensOf(credentials: AzureCredentials): AzureTokens {
    return new AzureTokens({ credentials, endpoints: server.endpoints, metadataService: server.url });
  }
});

describe('AzureTokens', () => {
  let folder: string;
  let server: ArmServer;
  let certificate: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'azure-tokens-'));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const subject = ['-subj', '/CN=operator', '-days', '1'];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-passout', 'pass:word', '-keyout', key, '-out', cert, ...subject], {
      stdio: 'ignore',
    });
    certificate = readFileSync(cert, 'utf8') + readFileSync(key, 'utf8');
    writeFileSync(join(folder, 'token'), 'a token of the cluster\n');
    const application = { tenantID: 'tenant', clientID: 'operator' };
    const applications: Application[] = [
      { ...application, secret: 'secret', certificate: readFileSync(cert, 'utf8'), federated: ['a token of the cluster'] },
    ];
    server = await startScene({ applications });
    server.identity.machineIdentities = ['0000-client'];
  });

  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  const who = { tenantID: 'tenant', clientID: 'operator' };
  const rows: [string, () => AzureCredentials, RegExp | undefined][] = [
    ['a client secret', () => ({ kind: 'ClientSecret', ...who, clientSecret: 'secret' }), undefined],
    ['a wrong secret', () => ({ kind: 'ClientSecret', ...who, clientSecret: 'x' }), /AADSTS7000215.*Write the value/],
    ['another tenant', () => ({ kind: 'ClientSecret', ...who, tenantID: 't2', clientSecret: 'secret' }), /AADSTS90002.*Check tenantID/],
    ['another client', () => ({ kind: 'ClientSecret', ...who, clientID: 'c2', clientSecret: 'secret' }), /AADSTS700016.*Check clientID/],
    ['a certificate', () => ({ kind: 'ClientCertificate', ...who, certificate, password: 'word' }), undefined],
    [
      'a certificate with a wrong password',
      () => ({ kind: 'ClientCertificate', ...who, certificate, password: 'x' }),
      /check the password/,
    ],
    ['no certificate', () => ({ kind: 'ClientCertificate', ...who, certificate: 'x' }), /PKCS #12 in binary form/],
    ['a workload identity', () => ({ kind: 'WorkloadIdentity', ...who, tokenFile: join(folder, 'token') }), undefined],
    [
      'a workload identity without its file',
      () => ({ kind: 'WorkloadIdentity', ...who, tokenFile: join(folder, 'no') }),
      /workload.identity\/use/,
    ],
    ['the machine’s only identity', () => ({ kind: 'ManagedIdentity' }), undefined],
    ['an identity of the machine', () => ({ kind: 'ManagedIdentity', identity: { clientID: '0000-client' } }), undefined],
    [
      'an identity that it has not',
      () => ({ kind: 'ManagedIdentity', identity: { resourceID: '/x' } }),
      /Assign the identity to the machine/,
    ],
  ];

  test.each(rows)('%s', async (_name, credentials, refused) => {
    const tokens = new AzureTokens({ credentials: credentials(), endpoints: server.endpoints, metadataService: server.url });
    if (refused === undefined) {
      const { value, expiresAt } = await tokens.token();
      expect(server.identity.knows(`Bearer ${value}`)).toBe(true);
      expect(expiresAt - Date.now()).toBeGreaterThan(3_500_000);
      return;
    }
    const error = await failure(tokens.token());
    expect(error.code).toBe('Credentials');
    expect(error.message).toMatch(refused);
    expect(error.message).not.toMatch(/Trace ID/);
  });

  test('one request, however many calls wait; a token is kept while it holds, and asked for anew before it ends', async () => {
    const credentials: AzureCredentials = { kind: 'ManagedIdentity' };
    const tokens = new AzureTokens({ credentials, endpoints: server.endpoints, metadataService: server.url });
    server.identity.requests.length = 0;
    const [one, other] = await Promise.all([tokens.token(), tokens.token()]);
    expect(other).toBe(one);
    expect(await tokens.token()).toBe(one);
    expect(server.identity.requests).toEqual(['metadata']);
    const longer = await tokens.token(3_600_001);
    expect(longer.value).not.toBe(one.value);
    tokens.forget(one.value);
    expect(await tokens.token()).toBe(longer);
    tokens.forget(longer.value);
    expect((await tokens.token()).value).not.toBe(longer.value);
  });

  test('a cloud says itself where its endpoints are', async () => {
    const answer: unknown = await (await fetch(metadataURL(`${server.url}/`))).json();
    expect(endpointsIn(answer, server.url)).toEqual(server.endpoints);
    expect(() => endpointsIn({ hello: 'world' }, server.url)).toThrow(/does not answer as a resource manager/);
  });
});
