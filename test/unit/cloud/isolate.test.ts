import * as fc from 'fast-check';
import { OperatorError, type ErrorCode } from '../../../operator/base/errors';
import { isolate, type Trial } from '../../../operator/cloud/stack/isolate';

interface World {
  bad: readonly string[];
  /** The cloud's errors name whose fault they are. */
  names?: boolean;
  code?: ErrorCode;
  restorable?: boolean;
  /** The failure may be one's own, though it is no fault. */
  own?: boolean;
}

/** A cloud that refuses every update with a bad candidate in it; `tried` are the updates that it saw. */
function trialOf(suspects: string[], { bad, names = false, code = 'Invalid', restorable = true, own = false }: World) {
  const tried: string[] = [];
  const trial: Trial<string, string> = {
    suspects,
    restorable: () => restorable,
    isOwn: () => own,
    attempt: (candidates) => {
      tried.push(candidates.join(''));
      const culprit = candidates.find((one) => bad.includes(one));
      if (culprit !== undefined) return Promise.reject(new OperatorError(code, `${culprit} is refused`, { resource: `urn::${culprit}` }));
      return Promise.resolve(candidates.join(''));
    },
    attribute: (error) => (names ? [error.resource?.split('::')[1] ?? ''] : []),
  };
  return { trial, tried };
}

test('everything that works is one update', async () => {
  const { trial, tried } = trialOf(['a', 'b', 'c'], { bad: [] });
  expect(await isolate(trial)).toEqual({ result: 'abc', failed: [] });
  expect(tried).toEqual(['abc']);
});

test('whom the error names is left out, and the others proceed', async () => {
  const { trial, tried } = trialOf(['a', 'b', 'c', 'd'], { bad: ['b', 'd'], names: true });
  const { result, failed } = await isolate(trial);
  expect(result).toBe('ac');
  expect(failed.map(({ candidate, error }) => `${candidate}: ${error.message}`)).toEqual(['b: b is refused', 'd: d is refused']);
  expect(tried).toEqual(['abcd', 'acd', 'ac']);
});

test('where nobody is named, the candidates are bisected', async () => {
  const { trial, tried } = trialOf([...'abcdefgh'], { bad: ['f'] });
  const { result, failed } = await isolate(trial);
  expect(result).toBe('abcdegh');
  expect(failed.map(({ candidate }) => candidate)).toEqual(['f']);
  expect(tried).toEqual(['abcdefgh', 'abcd', 'abcdefgh', 'abcdef', 'abcde', 'abcdef', 'abcdegh']);
});

test('the last candidate fails: the stack is brought back to what worked', async () => {
  const { trial, tried } = trialOf(['a'], { bad: ['a'] });
  expect(await isolate(trial)).toMatchObject({ result: '', failed: [{ candidate: 'a' }] });
  expect(tried).toEqual(['a', '']);
});

test('where there is nothing to go back to, the failure is the stack’s', async () => {
  const alone = trialOf(['a'], { bad: ['a'], restorable: false });
  await expect(isolate(alone.trial)).rejects.toThrow('a is refused');
  expect(alone.tried).toEqual(['a']);
  const all = trialOf(['a', 'b'], { bad: ['a', 'b'], restorable: false, names: true });
  await expect(isolate(all.trial)).rejects.toThrow('a is refused');
});

test.each<ErrorCode>(['Transient', 'Throttled', 'Credentials', 'Canceled', 'NotFound'])('%s is nobody’s fault', async (code) => {
  const { trial, tried } = trialOf(['a', 'b'], { bad: ['a'], code, names: true });
  await expect(isolate(trial)).rejects.toMatchObject({ code });
  expect(tried).toEqual(['ab']);
});

test('what the credentials may not do for one is that one’s own where it is named, and nobody’s otherwise', async () => {
  const named = trialOf(['a', 'b', 'c'], { bad: ['b'], code: 'Credentials', names: true, own: true });
  expect(await isolate(named.trial)).toMatchObject({ result: 'ac', failed: [{ candidate: 'b' }] });
  const unnamed = trialOf(['a', 'b', 'c'], { bad: ['b'], code: 'Credentials', own: true });
  await expect(isolate(unnamed.trial)).rejects.toThrow('b is refused');
  expect(unnamed.tried).toEqual(['abc']);
});

test('a lost race for the state is nobody’s fault', async () => {
  const { trial } = trialOf(['a', 'b'], { bad: [] });
  const race = { ...trial, attempt: () => Promise.reject(new OperatorError('Conflict', 'somebody was faster')) };
  await expect(isolate(race)).rejects.toThrow('somebody was faster');
});

test.each(['Conflict', 'Credentials'] as const)('%s of a deletion alone is no candidate’s fault: they are made', async (code) => {
  const { trial, tried } = trialOf(['a', 'b'], { bad: [], own: true, names: true });
  const locked = new OperatorError(code, 'locked', { resource: 'urn::a', undeleted: ['urn::a'] });
  const attempt = (candidates: readonly string[]): Promise<string> => {
    tried.push(candidates.join(''));
    return Promise.reject(locked);
  };
  await expect(isolate({ ...trial, attempt })).rejects.toBe(locked);
  expect(tried).toEqual(['ab']);
});

test('what fails without any candidate is not blamed on one', async () => {
  const { trial } = trialOf(['a', 'b'], { bad: [] });
  const broken = { ...trial, attempt: () => Promise.reject(new OperatorError('Invalid', 'always')) };
  await expect(isolate(broken)).rejects.toThrow('always');
});

test('whoever is bad, and whether errors name it: the good ones are in, the bad ones out, and the last update worked', async () => {
  const sets = fc.uniqueArray(fc.constantFrom(...'abcdefghij'), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(sets, fc.uniqueArray(fc.constantFrom(...'abcdefghij')), fc.boolean(), async (suspects, bad, names) => {
      const { trial, tried } = trialOf(suspects, { bad, names });
      const { result, failed } = await isolate(trial);
      expect(new Set(result)).toEqual(new Set(suspects.filter((one) => !bad.includes(one))));
      expect(new Set(failed.map(({ candidate }) => candidate))).toEqual(new Set(suspects.filter((one) => bad.includes(one))));
      expect(tried.at(-1)).toBe(result);
      const guilty = failed.length;
      expect(tried.length).toBeLessThanOrEqual(2 + guilty * (names ? 1 : 2 * Math.ceil(Math.log2(suspects.length + 1)) + 1));
    }),
    { timeout: 20_000 },
  );
});

test.each<[ErrorCode, string]>([
  ['Invalid', 'StateStoreUnavailable'],
  ['Quota', 'StateStoreUnavailable'],
  ['Unknown', 'StateStoreUnavailable'],
  ['Invalid', 'StateKeyUnavailable'],
])('%s %s of the state store is nobody’s fault', async (code, reason) => {
  const tried: string[] = [];
  const attempt = (candidates: readonly string[]): Promise<string> => {
    tried.push(candidates.join(''));
    return Promise.reject(new OperatorError(code, 'read-only', { reason }));
  };
  await expect(isolate({ suspects: ['a', 'b'], restorable: () => true, attempt, isOwn: () => false, attribute: () => [] })).rejects.toThrow(
    'read-only',
  );
  expect(tried).toEqual(['ab']);
});
