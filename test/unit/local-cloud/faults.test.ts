import type { FaultRule } from '../../../providers/local/api';
import { ApiFailure } from '../../../providers/local/cloud/api-failure';
import { Faults, type CallFacts, type Verdict } from '../../../providers/local/cloud/faults';
import { ManualClock } from './cloud-fixture';

const lose: FaultRule['act'] = { loseResponse: true };
const call = (facts: Partial<CallFacts> = {}): CallFacts => ({ verb: 'create', collection: 'pools', caller: 'me', name: 'web', ...facts });

function faultsWith(rules: FaultRule[], seed?: number): { faults: Faults; clock: ManualClock } {
  const clock = new ManualClock();
  const faults = new Faults(() => clock.monotonic());
  faults.set({ rules, ...(seed === undefined ? {} : { seed }) });
  return { faults, clock };
}

/** One letter for each call: x = the rule acted. */
function pattern(faults: Faults, calls: number): string {
  return Array.from({ length: calls }, () => (faults.decide(call()).loseResponse === true ? 'x' : '.')).join('');
}

describe('Faults', () => {
  test.each<[string, FaultRule['match'], Partial<CallFacts>, boolean]>([
    ['everything', {}, {}, true],
    ['same verb', { verb: 'create' }, {}, true],
    ['other verb', { verb: 'delete' }, {}, false],
    ['other collection', { collection: 'routes' }, {}, false],
    ['same caller', { caller: 'me' }, {}, true],
    ['other caller', { caller: 'you' }, {}, false],
    ['name that fits', { nameRegex: '^w' }, {}, true],
    ['name that does not', { nameRegex: '^x' }, {}, false],
  ])('match: %s', (_title, match, facts, acts) => {
    const { faults } = faultsWith([{ match, act: lose }]);
    expect(faults.decide(call(facts)).loseResponse === true).toBe(acts);
    expect(faults.status().rules[0]).toMatchObject({ matched: acts ? 1 : 0, acted: acts ? 1 : 0 });
  });

  test.each<[string, Partial<FaultRule>, string]>([
    ['times', { times: 2 }, 'xx......'],
    ['after', { after: 3 }, '...xxxxx'],
    ['after and times', { after: 1, times: 2 }, '.xx.....'],
    ['probability 0', { probability: 0 }, '........'],
    ['probability 1', { probability: 1 }, 'xxxxxxxx'],
  ])('%s', (_title, limits, expected) => {
    const { faults } = faultsWith([{ match: {}, act: lose, ...limits }]);
    expect(pattern(faults, 8)).toBe(expected);
  });

  test('the same seed gives the same faults, another seed others, about as many as asked for', () => {
    const rule: FaultRule = { match: {}, act: lose, probability: 0.3 };
    const first = pattern(faultsWith([rule], 7).faults, 1000);
    expect(pattern(faultsWith([rule], 7).faults, 1000)).toBe(first);
    expect(pattern(faultsWith([rule], 8).faults, 1000)).not.toBe(first);
    const acted = first.replaceAll('.', '').length;
    expect(acted).toBeGreaterThan(240);
    expect(acted).toBeLessThan(360);
  });

  test('a rule that is used up lets the next one act', () => {
    const { faults } = faultsWith([
      { match: {}, times: 1, act: lose },
      { match: {}, act: { listLagMs: 5 } },
    ]);
    expect(faults.decide(call())).toEqual<Verdict>({ loseResponse: true });
    expect(faults.decide(call())).toEqual<Verdict>({ listLagMs: 5 });
  });

  test('throttle: burst first, then rps, and the wait is exact', () => {
    const { faults, clock } = faultsWith([{ match: {}, act: { throttle: { rps: 2, burst: 3 } } }]);
    const refused = () => faults.decide(call()).refusal?.body.retryAfterMs;
    expect([refused(), refused(), refused()]).toEqual([undefined, undefined, undefined]);
    expect(refused()).toBe(500);
    clock.advance(499);
    expect(refused()).toBe(1);
    clock.advance(1);
    expect(refused()).toBeUndefined();
    expect(faults.status().rules[0]).toMatchObject({ matched: 6, acted: 2 });
  });

  test('quota refuses at the limit and counts only then', () => {
    const { faults } = faultsWith([{ match: {}, act: { quota: { max: 2 } } }]);
    const { quota } = faults.decide(call());
    expect(() => quota?.(1)).not.toThrow();
    expect(faults.status().rules[0]).toMatchObject({ acted: 0 });
    expect(() => quota?.(2)).toThrow(ApiFailure);
    expect(faults.status().rules[0]).toMatchObject({ acted: 1 });
  });

  test('latency lies in its range', () => {
    const { faults } = faultsWith([{ match: {}, act: { latencyMs: { min: 10, max: 20 } } }]);
    const delays = Array.from({ length: 200 }, () => faults.decide(call()).delayMs ?? -1);
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(10);
    expect(Math.max(...delays)).toBeLessThanOrEqual(20);
    expect(new Set(delays).size).toBeGreaterThan(100);
  });

  test.each<[string, unknown, string]>([
    ['no rules', {}, 'rules'],
    ['unknown act', { rules: [{ match: {}, act: { explode: true } }] }, 'rules[0].act'],
    ['unknown verb', { rules: [{ match: { verb: 'steal' }, act: lose }] }, 'rules[0].match.verb'],
    ['bad expression', { rules: [{ match: { nameRegex: '(' }, act: lose }] }, 'rules[0].match.nameRegex'],
    ['min over max', { rules: [{ match: {}, act: { latencyMs: { min: 2, max: 1 } } }] }, 'rules[0].act.latencyMs'],
    ['probability 2', { rules: [{ match: {}, probability: 2, act: lose }] }, 'rules[0].probability'],
    ['misspelt field', { rules: [{ match: {}, time: 2, act: lose }] }, 'rules[0].time'],
  ])('refuses %s and names the field', (_title, body, field) => {
    const faults = new Faults(() => 0);
    expect(refusalOf(() => faults.set(body))).toMatchObject({ code: 'InvalidArgument', field });
  });
});

function refusalOf(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error instanceof ApiFailure ? error.body : error;
  }
}
