import { OperatorError } from '../../../operator/base/errors';
import { silentLogger } from '../../../operator/base/log';
import { SERVICE_ACCOUNTS } from '../../../operator/kube/object';
import { errorOfAnswer } from '../../../operator/kube/status';
import { ServiceAccountTokens } from '../../../operator/kube/token-source';
import { FakeClock, settle } from './fake-clock';

const MINUTE = 60_000;
const KEY = 'kube-system/route-controller';

/** An API server that has the ServiceAccount or not, and hands out t1, t2, … */
class Api {
  exists = true;
  granted = 3_600;
  /** Of the next requests for a token, the first one first. */
  failures: OperatorError[] = [];
  /** Somebody else makes the ServiceAccount between our look and our request. */
  overtaken = false;
  created: object[] = [];
  asked = 0;
  issued = 0;

  get = <T>(resource: unknown, key: string): Promise<T | undefined> => {
    expect({ resource, key }).toEqual({ resource: SERVICE_ACCOUNTS, key: KEY });
    return Promise.resolve(this.exists ? ({ metadata: {} } as T) : undefined);
  };

  create = <T>(_resource: unknown, namespace: string | undefined, body: object): Promise<T> => {
    this.created.push({ namespace, ...body });
    this.exists = true;
    if (!this.overtaken) return Promise.resolve(body as T);
    const status = { kind: 'Status', code: 409, reason: 'AlreadyExists', message: 'already exists' };
    return Promise.reject(errorOfAnswer('POST', 409, JSON.stringify(status)));
  };

  raw = (method: string, path: string, request?: { body?: unknown }): Promise<unknown> => {
    expect({ method, path }).toEqual({
      method: 'POST',
      path: '/api/v1/namespaces/kube-system/serviceaccounts/route-controller/token',
    });
    expect(request?.body).toMatchObject({ kind: 'TokenRequest', spec: { expirationSeconds: 3_600 } });
    this.asked += 1;
    const failure = this.failures.shift();
    if (failure !== undefined) return Promise.reject(failure);
    this.issued += 1;
    return Promise.resolve({ spec: { expirationSeconds: this.granted }, status: { token: `t${this.issued}` } });
  };
}

let api: Api;
let clock: FakeClock;
const busy = (): OperatorError => new OperatorError('Transient', 'the server is busy');

function tokensOf(random = 0): ServiceAccountTokens {
  return new ServiceAccountTokens({ api, account: KEY, clock, random: () => random, logger: silentLogger });
}

beforeEach(() => {
  api = new Api();
  clock = new FakeClock();
});

test('one token is asked for, however many want it, and used for four fifths of its time', async () => {
  const tokens = tokensOf();
  expect(await Promise.all([tokens.token(), tokens.token(), tokens.token()])).toEqual(['t1', 't1', 't1']);
  await clock.advance(48 * MINUTE - 1);
  expect(await tokens.token()).toBe('t1');
  expect(api.asked).toBe(1);
  await clock.advance(1);
  // The old one is good until the new one is there: nobody waits.
  expect(await tokens.token()).toBe('t1');
  await settle();
  expect(await tokens.token()).toBe('t2');
  expect(api.created).toEqual([]);
});

test('the time to renew is spread, and counted from what the API server has granted', async () => {
  api.granted = 600;
  const tokens = tokensOf(1);
  await tokens.token();
  await clock.advance(7.2 * MINUTE - 1); // 8 minutes less a tenth
  await tokens.token();
  await settle();
  expect(api.asked).toBe(1);
  await clock.advance(1);
  await tokens.token();
  await settle();
  expect(api.asked).toBe(2);
});

test('a ServiceAccount that is absent is made; one that somebody else makes meanwhile is used', async () => {
  for (const overtaken of [false, true]) {
    Object.assign(api, { exists: false, overtaken, created: [] });
    await tokensOf().token();
    expect(api.created).toEqual([{ namespace: 'kube-system', metadata: { namespace: 'kube-system', name: 'route-controller' } }]);
  }
});

test('it is tried four times, after 0.5, 1 and 2 seconds, and then told', async () => {
  api.failures = [busy(), busy(), busy(), busy()];
  const failed = expect(tokensOf().token()).rejects.toMatchObject({
    code: 'Transient',
    message: `there is no token for the ServiceAccount ${KEY}: the server is busy`,
  });
  for (const [index, ms] of [500, 1_000, 2_000].entries()) {
    await settle();
    expect({ asked: api.asked, pending: clock.pending() }).toEqual({ asked: index + 1, pending: [ms] });
    await clock.advance(ms);
  }
  await failed;
  expect(api.asked).toBe(4);
});

test('while it cannot be renewed the old one is used, to its end and no longer', async () => {
  const tokens = tokensOf();
  await tokens.token();
  api.failures = Array.from({ length: 1_000 }, busy);
  await clock.advance(48 * MINUTE);
  for (let minute = 0; minute < 11; minute++) {
    expect(await tokens.token()).toBe('t1');
    await clock.advance(MINUTE);
  }
  expect(api.asked).toBe(1 + 11 * 4);
  await clock.advance(MINUTE);
  const failed = expect(tokens.token()).rejects.toThrow(OperatorError);
  await clock.advance(10_000);
  await failed;
  api.failures = [];
  expect(await tokens.token()).toBe('t2');
});

test('one that was refused is not used again', async () => {
  const tokens = tokensOf();
  await tokens.token();
  tokens.forget();
  expect(await tokens.token()).toBe('t2');
});
