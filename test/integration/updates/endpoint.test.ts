import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { systemClock } from '../../../operator/base/clock';
import { DirectoryStateStore } from '../../../operator/updates/state/directory-state-store';
import { newKeyring } from '../../../operator/updates/state/keyring';
import { newRecord } from '../../../operator/updates/state/stack-record';
import { StateEndpoint } from '../../../operator/updates/worker/endpoint/endpoint';
import { JournalKind } from '../../../operator/updates/worker/endpoint/journal-entry';
import { SecretsCipher } from '../../../operator/updates/worker/endpoint/secrets';
import { UpdateSession, type SessionRequest } from '../../../operator/updates/worker/endpoint/session';

const directory = mkdtempSync(join(tmpdir(), 'endpoint-'));
const store = new DirectoryStateStore(directory);
const endpoint = new StateEndpoint();
const key = newKeyring();
let lease = '';

beforeAll(() => endpoint.listen());
afterAll(() => {
  endpoint.close();
  rmSync(directory, { recursive: true });
});

async function serve(stack: string, more: Partial<SessionRequest> = {}): Promise<UpdateSession> {
  const request = {
    stack,
    project: 'p',
    providerKind: 'k',
    programVersion: '1',
    clusterID: 'c',
    inputs: { a: 1 },
    inputsHash: 'hash',
    begun: 'hash',
    holder: 'h',
    journalAbove: 50,
    ...more,
  };
  const session = new UpdateSession(
    request,
    { store, clock: systemClock, assertValid: () => undefined, holdMs: 1000 },
    await store.read(stack),
  );
  endpoint.serve({ session, cipher: new SecretsCipher(key, stack) });
  return session;
}

async function call(method: string, path: string, body?: unknown, authorization = `token ${endpoint.token}`) {
  const response = await fetch(`${endpoint.url}${path}`, {
    method,
    headers: { authorization, ...(body === undefined ? {} : { 'content-encoding': 'gzip' }) },
    ...(body === undefined ? {} : { body: gzipSync(JSON.stringify(body)) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function begin(stack: string): Promise<Record<string, unknown>> {
  const { body } = await call('POST', `/api/stacks/organization/p/${stack}/begin-update`, {
    updateKind: 'update',
    program: { options: { dryRun: false } },
  });
  lease = `update-token ${String(body.token)}`;
  return body;
}

function checkpoint(name: string, time: string): object {
  const urn = `urn:pulumi:s::p::x:i:T::${name}`;
  return {
    version: 3,
    deployment: { manifest: { time, magic: '', version: '' }, resources: [{ urn, type: 'x:i:T', custom: true, id: name }] },
  };
}

const update = (stack: string, what: string): string => `/api/stacks/organization/p/${stack}/update/current/${what}`;

describe('the state endpoint', () => {
  test('serves only who has the token, and only while an update runs', async () => {
    endpoint.serve(undefined);
    expect((await call('GET', '/api/capabilities', undefined, 'token wrong')).status).toBe(401);
    expect((await call('GET', '/api/capabilities', undefined, '')).status).toBe(401);
    expect((await call('GET', '/api/capabilities')).status).toBe(403);
    await serve('a');
    expect((await call('GET', '/api/capabilities')).status).toBe(200);
    expect((await call('GET', '/api/nothing')).body).toEqual({ code: 404, message: 'Not Found: GET /api/nothing' });
    expect((await call('GET', '/api/stacks/organization/p/other')).status).toBe(404);
  });

  test('does not offer delta checkpoints, which lose pending operations', async () => {
    await serve('a');
    expect(JSON.stringify((await call('GET', '/api/capabilities')).body)).not.toMatch(/delta/);
  });

  test('a new stack begins without a deployment and with full checkpoints', async () => {
    await serve('new');
    const body = await begin('new');
    expect(body).toMatchObject({ journalVersion: 0, stack: { stackName: 'new' } });
    expect(body).not.toHaveProperty('deployment');
    expect((await call('GET', '/api/stacks/organization/p/new/export')).body).toEqual({ version: 3, deployment: null });
  });

  test('the first checkpoint opens the stack, an equal one is not written, success closes it with inputs and hash', async () => {
    const session = await serve('life');
    await begin('life');
    expect((await call('PATCH', update('life', 'checkpoint'), checkpoint('a', '2026-01-01T00:00:00Z'), lease)).status).toBe(200);
    expect((await store.read('life'))?.record).toMatchObject({ open: true, inputs: null, inputsHash: '', epoch: 1 });
    await call('PATCH', update('life', 'checkpoint'), checkpoint('a', '2026-01-01T00:00:09Z'), lease);
    expect(session.writes).toBe(1);
    await call('POST', update('life', 'complete'), { status: 'succeeded' }, lease);
    expect((await store.read('life'))?.record).toMatchObject({ open: false, inputs: { a: 1 }, inputsHash: 'hash' });
    expect(session.writes).toBe(2);
  });

  test('what writes nothing to the cloud is not stored by itself: it comes with the next write, or at the end, also of a failed update', async () => {
    const state = (...types: [type: string, name: string][]): object => ({
      version: 3,
      deployment: {
        manifest: { time: '', magic: '', version: '' },
        resources: types.map(([type, name]) => ({ urn: `urn:pulumi:s::p::${type}::${name}`, type, custom: true, id: name })),
      },
    });
    const namesIn = async (stack: string): Promise<(string | undefined)[]> =>
      ((await store.read(stack))?.record.checkpoint?.deployment?.resources ?? []).map(({ id }) => id);
    const [provider, thing] = [['pulumi:providers:x', 'default'] as const, ['x:i:T', 'a'] as const];
    const barrier = (name: string) => ['cloudoperator:index:MembersReady', name] as const;
    const session = await serve('barrier');
    await begin('barrier');
    const send = (...types: (readonly [string, string])[]) =>
      call('PATCH', update('barrier', 'checkpoint'), state(...(types as [string, string][])), lease);
    await send(provider);
    expect(session.writes).toBe(0);
    await send(provider, thing);
    await send(provider, thing, barrier('one'));
    expect(await namesIn('barrier')).toEqual(['default', 'a']);
    await send(provider, thing, barrier('one'), ['x:i:T', 'b']);
    expect(await namesIn('barrier')).toEqual(['default', 'a', 'one', 'b']);
    const chosen = ['cloudoperator:state:Subnets', 'choice'] as const;
    await send(provider, thing, barrier('one'), ['x:i:T', 'b'], chosen);
    await send(provider, thing, barrier('one'), ['x:i:T', 'b'], chosen, barrier('two'));
    expect(session.writes).toBe(2);
    await call('POST', update('barrier', 'complete'), { status: 'succeeded' }, lease);
    expect(session.writes).toBe(3);
    expect(await namesIn('barrier')).toEqual(['default', 'a', 'one', 'b', 'choice', 'two']);
    expect((await store.read('barrier'))?.record).toMatchObject({ open: false, inputsHash: 'hash' });

    await serve('barrier');
    await begin('barrier');
    await send(provider, thing, barrier('one'), ['x:i:T', 'b']);
    await call('POST', update('barrier', 'complete'), { status: 'failed' }, lease);
    expect(await namesIn('barrier')).toEqual(['default', 'a', 'one', 'b']);
    expect((await store.read('barrier'))?.record).toMatchObject({ open: true });

    // a destroy whose last step is a barrier's
    await serve('barrier', { inputs: undefined });
    await begin('barrier');
    await send(barrier('one'));
    await send();
    await call('POST', update('barrier', 'complete'), { status: 'succeeded' }, lease);
    expect(await store.read('barrier')).toBeUndefined();
  });

  test('a failed update stays open', async () => {
    await serve('failed');
    await begin('failed');
    await call('PATCH', update('failed', 'checkpoint'), checkpoint('a', ''), lease);
    await call('POST', update('failed', 'complete'), { status: 'failed' }, lease);
    expect((await store.read('failed'))?.record).toMatchObject({ open: true, inputsHash: '' });
  });

  test('an approved update counts once it is carried out, also by one that goes on with it, and not by one that takes it back', async () => {
    const run = async (stack: string, succeeded: boolean, more: Partial<SessionRequest>): Promise<object | undefined> => {
      const session = await serve(stack, more);
      session.begin(false);
      await session.checkpoint(checkpoint(JSON.stringify([succeeded, more]), '') as never);
      await session.complete(succeeded);
      return (await store.read(stack))?.record;
    };
    const approved = { begun: 'a', underway: 'a' };
    expect(await run('once', true, approved)).toMatchObject({ open: false, approvals: 1 });
    expect(await run('once', true, { begun: 'b' })).toMatchObject({ approvals: 1 });
    expect(await run('cut', false, approved)).toMatchObject({ open: true, ...approved });
    expect(await run('cut', true, { begun: 'a' })).toMatchObject({ open: false, approvals: 1 });
    for (const more of [approved, { begun: 'a' }, { begun: 'a' }]) {
      await (await serve('left', more)).doneButDeletions();
      expect((await store.read('left'))?.record).toMatchObject({ open: true, approvals: 1 });
    }
    await run('back', false, approved);
    expect(await run('back', true, { begun: 'b' })).not.toHaveProperty('approvals');
  });

  test('a preview writes nothing', async () => {
    const session = await serve('preview');
    await call('POST', '/api/stacks/organization/p/preview/begin-update', { program: { options: { dryRun: true } } });
    session.begin(true);
    await session.checkpoint(checkpoint('a', '') as never);
    await session.complete(true);
    expect(await store.read('preview')).toBeUndefined();
  });

  test('a second writer makes it refuse with 403 and the reason, for good', async () => {
    const session = await serve('raced');
    await begin('raced');
    await call('PATCH', update('raced', 'checkpoint'), checkpoint('a', ''), lease);
    const stored = await store.read('raced');
    if (stored === undefined) throw new Error('not stored');
    await store.write({ ...stored.record, holder: 'other', epoch: 2 }, stored.version);
    const refused = await call('PATCH', update('raced', 'checkpoint'), checkpoint('b', ''), lease);
    expect(refused.status).toBe(403);
    expect(refused.body.message).toMatch(/stack raced is at version 2, not 1: another writer was faster/);
    expect(session.refusal?.code).toBe('Conflict');
    expect((await call('POST', update('raced', 'renew_lease'), { duration: 300 }, lease)).status).toBe(403);
    expect((await store.read('raced'))?.record).toMatchObject({ holder: 'other', epoch: 2 });
  });

  test('a batch of a journal that could not be stored is refused again where it comes again, and so is the update’s success', async () => {
    const { request } = await serve('batch', { journalAbove: 0 });
    expect(await begin('batch')).toMatchObject({ journalVersion: 1 });
    await store.write(newRecord({ ...request, holder: 'other' }), undefined);
    const resource = { urn: 'urn:pulumi:s::p::x:i:T::a', type: 'x:i:T', custom: true };
    const entry = { version: 1, kind: JournalKind.Begin, sequenceID: 1, operationID: 1, operation: { type: 'creating', resource } };
    const send = () => call('PATCH', update('batch', 'journalentries'), { entries: [entry] }, lease);
    const refused = await send();
    expect(refused).toMatchObject({ status: 403, body: { message: expect.stringContaining('another writer was faster') as string } });
    expect(await send()).toEqual(refused);
    expect(await call('POST', update('batch', 'complete'), { status: 'succeeded' }, lease)).toEqual(refused);
    expect((await store.read('batch'))?.record).toMatchObject({ holder: 'other', checkpoint: null });
  });

  test('the lease of an earlier update is worth nothing', async () => {
    await serve('b');
    await begin('b');
    const old = lease;
    await serve('b');
    expect((await call('PATCH', update('b', 'checkpoint'), checkpoint('a', ''), old)).status).toBe(401);
    expect(await store.read('b')).toBeUndefined();
  });

  test('a new holder raises the epoch with its first write', async () => {
    await serve('epoch');
    await begin('epoch');
    await call('PATCH', update('epoch', 'checkpoint'), checkpoint('a', ''), lease);
    await serve('epoch', { holder: 'second' });
    await begin('epoch');
    await call('PATCH', update('epoch', 'checkpoint'), checkpoint('b', ''), lease);
    await call('PATCH', update('epoch', 'checkpoint'), checkpoint('c', ''), lease);
    expect((await store.read('epoch'))?.record).toMatchObject({ epoch: 2, holder: 'second' });
  });

  test('secrets come back, bound to key and stack', async () => {
    await serve('secret');
    const plaintexts = ['one', '', 'drei'].map((text) => Buffer.from(text).toString('base64'));
    const { body } = await call('POST', '/api/stacks/organization/p/secret/batch-encrypt', { plaintexts });
    const ciphertexts = body.ciphertexts as string[];
    expect(ciphertexts.some((text) => plaintexts.includes(text))).toBe(false);
    const back = await call('POST', '/api/stacks/organization/p/secret/batch-decrypt', { ciphertexts });
    expect(ciphertexts.map((text) => (back.body.plaintexts as Record<string, string>)[text])).toEqual(plaintexts);
    const single = await call('POST', '/api/stacks/organization/p/secret/encrypt', { plaintext: plaintexts[0] });
    expect((await call('POST', '/api/stacks/organization/p/secret/decrypt', single.body)).body.plaintext).toBe(plaintexts[0]);
    await serve('thief');
    const stolen = await call('POST', '/api/stacks/organization/p/thief/decrypt', single.body);
    expect([stolen.status, stolen.body.message]).toEqual([
      403,
      'an encrypted value of stack thief was changed, or was made for another stack',
    ]);
  });

  test('a body that is not JSON is refused', async () => {
    await serve('a');
    const headers = { authorization: `token ${endpoint.token}` };
    const response = await fetch(`${endpoint.url}/api/stacks/organization/p/a/encrypt`, { method: 'POST', headers, body: '{' });
    expect(response.status).toBe(400);
  });
});
