import { OperatorError } from '../../../operator/base/errors';
import { departureOf } from '../../../operator/updates/departure';
import { classifyFailure, codeOfWords, type FailureEvidence } from '../../../operator/updates/failure';

function classify(evidence: Partial<FailureEvidence>): OperatorError {
  return classifyFailure({ stack: 's', resources: [], diagnostics: [], ...evidence });
}

const at = (name: string): string => `urn:pulumi:s::p::x:index:Thing::${name}`;

describe('classifyFailure', () => {
  test('a refused state write comes before everything else', () => {
    const error = classify({
      refusal: new OperatorError('Conflict', 'another writer was faster', { remedy: 'wait' }),
      canceled: 'deadline',
      resources: [{ urn: at('a'), error: new OperatorError('Invalid', 'bad') }],
    });
    expect(error).toMatchObject({ code: 'Conflict', remedy: 'wait' });
    expect(error.message).toBe('stack s: the update was stopped because its state could not be stored: another writer was faster');
  });

  test('a real error of a resource survives a cancelation, the consequence of the cancelation does not', () => {
    const resources = [{ urn: at('a'), error: new OperatorError('Canceled', 'aborted') }];
    expect(classify({ canceled: 'deadline', resources })).toMatchObject({
      code: 'Canceled',
      message: 'stack s: the update was stopped: deadline',
    });
    resources.push({ urn: at('b'), error: new OperatorError('Quota', 'no more') });
    expect(classify({ canceled: 'deadline', resources })).toMatchObject({ code: 'Quota', resource: at('b') });
  });

  test('of several errors: what a person must repair, else the longest wait, with the number of the others', () => {
    const slow = { urn: at('a'), error: new OperatorError('Throttled', 'slow', { retryAfterMs: 10 }) };
    const slower = { urn: at('b'), error: new OperatorError('Throttled', 'slower', { retryAfterMs: 20 }) };
    const invalid = { urn: at('c'), error: new OperatorError('Invalid', 'bad', { field: 'x' }) };
    expect(classify({ resources: [slow, slower] })).toMatchObject({
      retryAfterMs: 20,
      message: 'stack s: resource "b": slower (and 1 more failure)',
    });
    expect(classify({ resources: [slow, slower, invalid] })).toMatchObject({ code: 'Invalid', field: 'x', resource: at('c') });
  });

  test('diagnostics: the first with a resource, without stack trace', () => {
    const diagnostics = [{ message: 'update failed' }, { urn: at('a'), message: 'quota exceeded:\n\n  the limit\n    at file.js:1' }];
    expect(classify({ diagnostics })).toMatchObject({ code: 'Quota', message: 'stack s: quota exceeded: the limit', resource: at('a') });
  });

  test('what a plugin would have to take over: the remedy is our own provider', () => {
    const diagnostics = [{ urn: at('a'), message: "cannot create already existing resource 'a'" }];
    expect(classify({ diagnostics })).toMatchObject({
      code: 'Conflict',
      remedy: expect.stringContaining('spec.plugin: BuiltIn') as string,
    });
  });

  test('a killed engine: its program’s failure is a consequence', () => {
    const program = new OperatorError('Invalid', 'the program failed: 14 UNAVAILABLE: No connection established');
    const killed = classify({ program, exit: { code: null, signal: 'SIGKILL', stderr: '' } });
    expect(killed).toMatchObject({ code: 'Transient' });
    expect(classify({ program, exit: { code: 255, signal: null, stderr: '' } })).toMatchObject({ code: 'Invalid' });
  });

  test.each<[string, Partial<FailureEvidence>]>([
    [
      'the engine',
      {
        diagnostics: [
          { message: "no resource plugin 'pulumi-resource-x' found in the workspace at version v7.48.0 or on your $PATH, install it" },
        ],
      },
    ],
    [
      'the program',
      {
        program: new OperatorError(
          'Invalid',
          "failed: no resource plugin 'pulumi-resource-x' found in the workspace at version v7.48.0 or on your $PATH",
        ),
      },
    ],
  ])('a plugin that is not there, or not in that version, as %s says it: with what an operator can do', (_who, evidence) => {
    expect(classify(evidence)).toMatchObject({
      code: 'Invalid',
      message: "stack s: no resource plugin 'pulumi-resource-x' found in the workspace at version v7.48.0 or on your $PATH",
      remedy: "put pulumi-resource-x into /usr/local/bin of the operator's image (docs/extend.md)",
    });
  });

  test('a program that lost its engine does not know why: what the engine said comes first', () => {
    const program = new OperatorError('Transient', 'the program failed: 14 UNAVAILABLE: read ECONNRESET', {
      cause: Object.assign(new Error('14 UNAVAILABLE: read ECONNRESET'), { code: 14, details: 'read ECONNRESET' }),
    });
    const diagnostics = [{ urn: at('a'), message: `Duplicate resource URN '${at('a')}'; try giving it a unique name` }];
    expect(classify({ program, diagnostics })).toMatchObject({ code: 'Invalid', resource: at('a') });
    expect(classify({ program })).toMatchObject({ code: 'Transient', message: `stack s: ${program.message}` });
    const own = new OperatorError('Transient', 'the program failed: no DNS');
    expect(classify({ program: own, diagnostics })).toMatchObject({ code: 'Transient' });
  });

  describe('an update that became something else than the plan that was approved', () => {
    const what = (message: string): string =>
      /^stack s: (.*?) became something else than the plan that was approved/.exec(message)?.[1] ?? message;

    test.each([
      [
        'inputs',
        {
          urn: at('a'),
          message: `resource ${at('a')} violates plan: properties changed: =~former[{[{map[name:{x}]}]}], ~~times[{1}!={2}]`,
        },
        'Thing a (former, times)',
      ],
      ['a step', { urn: at('a'), message: 'update is not allowed by the plan: this resource is constrained to same' }, 'Thing a'],
      ['one that did not come', { message: `expected resource operations for ${at('a')} but none were seen` }, 'Thing a'],
    ])('%s: says which, and that a new plan is to be approved, and blames nobody', (_what, diagnostic, expected) => {
      const error = classify({ approved: true, diagnostics: [{ message: 'update failed' }, diagnostic] });
      expect(error).toMatchObject({ code: 'Conflict', reason: 'PlanOutdated', resource: undefined });
      expect(what(error.message)).toBe(expected);
      expect(error.message).toContain('the cloud has changed since that plan was made');
      expect(error.message).toContain('the rest is planned anew, and waits where that plan has to be approved');
    });

    test('of what a stack gives the engine says nothing', () => {
      const exit = { code: 1, signal: null, stderr: '' };
      const error = classify({ approved: true, exit });
      expect(error).toMatchObject({ code: 'Conflict', reason: 'PlanOutdated' });
      expect(what(error.message)).toBe('what the stack gives');
      for (const more of [
        { canceled: 'deadline' },
        { exit: { ...exit, stderr: 'out of memory' } },
        { exit: { ...exit, code: null, signal: 'SIGKILL' } },
      ]) {
        expect(classify({ approved: true, exit, ...more }).reason).toBeUndefined();
      }
      expect(classify({ exit }).code).toBe('Transient');
    });

    test('what fails of a resource comes before, what is stopped by it does not', () => {
      const diagnostics = [{ urn: at('a'), message: `resource ${at('a')} violates plan: properties changed: =~former` }];
      const evidence = { approved: true as const, diagnostics };
      const quota = { urn: at('b'), error: new OperatorError('Quota', 'no more') };
      expect(classify({ ...evidence, resources: [quota] })).toMatchObject({ code: 'Quota' });
      const aborted = { urn: at('b'), error: new OperatorError('Canceled', 'aborted') };
      const told = [...diagnostics, { urn: at('b'), message: 'aborted' }, { message: 'update failed' }];
      expect(classify({ ...evidence, diagnostics: told, resources: [aborted] })).toMatchObject({ reason: 'PlanOutdated' });
      expect(classify({ ...evidence, canceled: 'deadline' })).toMatchObject({ code: 'Canceled' });
    });

    test('after a failure the engine misses what was to come: that is no departure, and what was approved goes on', () => {
      const missed = { urn: at('a'), message: `expected resource operations for ${at('a')} but none were seen` };
      const evidence = { stack: 's', approved: true as const, resources: [], diagnostics: [missed, { message: 'update failed' }] };
      expect(departureOf(evidence)?.reason).toBe('PlanOutdated');
      const conflict = { urn: at('b'), error: new OperatorError('Conflict', 'still in use') };
      expect(departureOf({ ...evidence, resources: [conflict] })).toBeUndefined();
      expect(departureOf({ ...evidence, canceled: 'deadline' })).toBeUndefined();
      // Without its lease, a resource stops before anybody has told the update to.
      const stopped = { urn: at('b'), error: new OperatorError('Canceled', 'the lease is lost') };
      expect(classify({ ...evidence, resources: [stopped] })).toMatchObject({ code: 'Canceled', reason: undefined });
    });

    test.each([
      ['a plugin’s', { urn: at('b'), message: 'Throttling: Rate exceeded' }, 'Throttled'],
      ['the engine’s', { message: 'connection refused' }, 'Transient'],
    ])('nor is %s failure, of which only the engine tells', (_whose, failed, code) => {
      const missed = { urn: at('a'), message: `expected resource operations for ${at('a')} but none were seen` };
      for (const diagnostics of [
        [failed, missed],
        [missed, failed],
      ]) {
        const error = classify({ approved: true, diagnostics });
        expect(error.reason).toBeUndefined();
        expect(error).toMatchObject({ code });
      }
    });

    test('of what nobody has approved, such as a preview, nothing departs', () => {
      const diagnostics = [{ urn: at('a'), message: 'creating is not allowed by the plan of the subscription' }];
      expect(classify({ diagnostics }).reason).toBeUndefined();
    });
  });

  test('nothing said: how the process ended', () => {
    expect(classify({ exit: { code: null, signal: 'SIGKILL', stderr: '' } }).message).toMatch(/ended with signal SIGKILL/);
    expect(classify({ exit: { code: 255, signal: null, stderr: '\n' } }).message).toMatch(/ended with exit code 255/);
    expect(classify({ exit: { code: 1, signal: null, stderr: 'error: connection refused' } })).toMatchObject({ code: 'Transient' });
  });
});

test.each([
  ['Throttling: Rate exceeded', 'Throttled'],
  ['AccessDenied: you are not authorized', 'Credentials'],
  ['resource already exists', 'Conflict'],
  ["Duplicate resource URN 'urn:…'; try giving it a unique name", 'Invalid'],
  ['dial tcp: connection refused', 'Transient'],
  ['something else', 'Unknown'],
  ["cannot create already existing resource '/subscriptions/1/resourceGroups/g/providers/x'", 'Conflict'],
  ['Code="PublicIPCountLimitReached" Message="Cannot create more than 10 public IP addresses"', 'Quota'],
])('codeOfWords(%s) = %s', (text, code) => expect(codeOfWords(text)).toBe(code));
