import { OperatorError } from '../../../operator/base/errors';
import { WatchedProgram } from '../../../operator/updates/worker/program';

/** What a program's failure becomes. */
function failureOf(thrown: unknown): OperatorError | undefined {
  const program = new WatchedProgram({ program: () => Promise.resolve({}), resourceProviders: () => [] }, {}, () => undefined);
  program.fail(thrown);
  return program.failure;
}

const grpc = (code: number, details: string): Error => Object.assign(new Error(`${code} ${details}`), { code, details, metadata: {} });

test.each<[string, unknown, string]>([
  ['a bug', new TypeError('x is not a function'), 'Invalid'],
  ['a refusal with its own class', new OperatorError('Quota', 'no more'), 'Quota'],
  ['a call to an engine that has gone', grpc(14, 'No connection established'), 'Transient'],
  ['a call that ended with its engine', grpc(1, 'Cancelled on client'), 'Transient'],
  ['a registration that the engine refused', grpc(2, 'resource "web": no'), 'Invalid'],
  ['a connection of its own that was refused', Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), 'Transient'],
  ['a number that is no status of gRPC', Object.assign(new Error('odd'), { code: 14 }), 'Invalid'],
  ['nothing', undefined, 'Invalid'],
])('%s', (_what, thrown, code) => expect(failureOf(thrown)?.code).toBe(code));

test('the first failure counts', () => {
  const program = new WatchedProgram({ program: () => Promise.resolve({}), resourceProviders: () => [] }, {}, () => undefined);
  program.fail(new Error('first'));
  program.fail(grpc(14, 'No connection established'));
  expect(program.failure).toMatchObject({ code: 'Invalid', message: 'the program failed: first' });
});
