import { problemsOf } from '../../faults/checks';
import type { Phase } from '../../faults/kinds';
import type { Operator } from '../../faults/operator';
import { People } from '../../faults/people';
import { isAt } from '../../faults/phases';
import { FaultSystem } from '../../faults/system';
import { changed, EMPTY_WORLD, type Change, type World } from '../../faults/world';
import { waitFor } from '../../harness/wait-for';

/** The API server itself is killed in the middle of an update, and another one starts in its place: the stack comes to a known state without a person. */

/** The longest back-off that this leads to, and time to do it on a busy machine. */
const RECOVERY_MS = 120_000;
jest.setTimeout(2 * RECOVERY_MS);

let system: FaultSystem;
let operator: Operator;
let people: People;
let world: World = EMPTY_WORLD;

beforeAll(async () => {
  system = await FaultSystem.start();
  people = new People(system);
  operator = await system.addOperator('a');
  await operator.start();
  await make({ kind: 'addNode', name: 'node-1' });
  await make({ kind: 'createService', name: 'web-0', service: { type: 'LoadBalancer', ports: [80], sourceRanges: [] } });
  await settled();
});

afterAll(() => system?.stop());

afterEach(() => {
  operator.tap = () => 'pass';
});

async function make(change: Change): Promise<void> {
  await people.make(change);
  world = changed(world, change);
}

function settled(): Promise<true> {
  return waitFor(
    async () => {
      const problems = await problemsOf(world, system, [operator]);
      if (problems.length === 0) return true;
      throw new Error(problems.join('; '));
    },
    { what: 'everything to be as wanted', timeoutMs: RECOVERY_MS },
  );
}

/** Kills the API server when the operator meets the phase; resolves when another one is ready. */
function killAt(phase: Phase, early: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let killed = false;
    operator.tap = (exchange, moment) => {
      if (killed || !isAt(phase, exchange, moment, early)) return 'pass';
      killed = true;
      system.controlPlane.replaceApiServer().then(resolve, reject);
      return 'pass';
    };
  });
}

const service = { type: 'LoadBalancer', ports: [80, 443], sourceRanges: [] } as const;

test.each<[string, Phase, boolean, Change]>([
  ['before the first checkpoint is written', 'checkpoint', true, { kind: 'createService', name: 'web-1', service }],
  ['when a checkpoint was written, and its answer is on the way', 'checkpoint', false, { kind: 'createService', name: 'web-2', service }],
  ['before a write to the cloud', 'before-write', true, { kind: 'changePorts', name: 'web-0', ports: [80, 8080] }],
  ['when the cloud has carried out a write', 'after-write', false, { kind: 'createService', name: 'web-3', service }],
  ['before the end of an update is stored', 'complete', true, { kind: 'changePorts', name: 'web-0', ports: [443] }],
  ['before a status is written', 'status', true, { kind: 'createService', name: 'web-4', service }],
  ['in a delete', 'delete', false, { kind: 'deleteService', name: 'web-0' }],
])('the API server is killed %s', async (_when, phase, early, change) => {
  const { pid } = operator;
  const back = killAt(phase, early);
  await make(change);
  await back;
  await settled();
  expect([operator.running, operator.pid]).toEqual([true, pid]);
});
