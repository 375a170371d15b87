import type { Phase } from '../../faults/kinds';
import type { Operator } from '../../faults/operator';
import { isAt } from '../../faults/phases';
import { FaultSystem } from '../../faults/system';
import { WantedWorld } from '../../faults/wanted-world';
import type { Change } from '../../faults/world';

/** The API server itself is killed in the middle of an update, and another one starts in its place: the stack comes to a known state without a person. */

/** The longest back-off that this leads to, and time to do it on a busy machine. */
const RECOVERY_MS = 120_000;
jest.setTimeout(2 * RECOVERY_MS);

let system: FaultSystem;
let operator: Operator;
let world: WantedWorld;

beforeAll(async () => {
  system = await FaultSystem.start();
  world = new WantedWorld(system);
  operator = await system.addOperator('a');
  await operator.start();
  await world.make({ kind: 'addNode', name: 'node-1' });
  await world.make({ kind: 'createService', name: 'web-0', service: { type: 'LoadBalancer', ports: [80], sourceRanges: [] } });
  await world.settled([operator], RECOVERY_MS);
});

afterAll(() => system?.stop());

afterEach(() => {
  operator.tap = () => 'pass';
});

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
  await world.make(change);
  await back;
  await world.settled([operator], RECOVERY_MS);
  expect([operator.running, operator.pid]).toEqual([true, pid]);
});
