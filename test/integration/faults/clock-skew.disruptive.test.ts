import { LEASES } from '../../../operator/kube/object';
import type { Lease, LeaseSpec } from '../../../operator/kube/lease';
import { ELECTION, LEASE } from '../../faults/election';
import type { Operator } from '../../faults/operator';
import type { Exchange } from '../../faults/proxy';
import { FaultSystem } from '../../faults/system';
import { WantedWorld } from '../../faults/wanted-world';
import type { Change } from '../../faults/world';
import { waitFor } from '../../harness/wait-for';

/** Two operators whose clocks are an hour ahead of the API server's, and an hour behind: one leads, all is done, and nothing is done again and again. */

const HOUR_MS = 3_600_000;
const SETTLED_MS = 60_000;
/** Writes to one object for one change of it, and what follows from that. */
const PER_OBJECT = 12;
jest.setTimeout(150_000);

let system: FaultSystem;
let ahead: Operator;
let behind: Operator;
let world: WantedWorld;

beforeAll(async () => {
  system = await FaultSystem.start();
  world = new WantedWorld(system);
  ahead = await system.addOperator('ahead', ELECTION);
  behind = await system.addOperator('behind', ELECTION);
  ahead.setClock(HOUR_MS);
  behind.setClock(-HOUR_MS);
  await ahead.start();
  await behind.start();
});

afterAll(() => system?.stop());

function service(name: string): Change {
  return { kind: 'createService', name, service: { type: 'LoadBalancer', ports: [80], sourceRanges: [] } };
}

async function lease(): Promise<LeaseSpec> {
  return (await system.kube.get<Lease>(LEASES, 'kube-system/cloud-controller-manager'))?.spec ?? {};
}

/** What an operator writes to the API server from now on, but for its lease; objects by how often. */
function writesOf(operator: Operator): Map<string, number> {
  const times = new Map<string, number>();
  operator.tap = ({ side, method, path }: Exchange, moment) => {
    if (moment === 'request' && side === 'api' && method !== 'GET' && !/leases|selfsubjectaccessreviews/.test(path))
      times.set(path, (times.get(path) ?? 0) + 1);
    return 'pass';
  };
  return times;
}

const tooMany = (times: Map<string, number>): [string, number][] => [...times].filter(([, count]) => count > PER_OBJECT);

/** Of the lease as somebody wrote it, against the API server's clock, which is this process's too. */
const hoursOff = ({ renewTime = '' }: LeaseSpec): number => Math.round((Date.parse(renewTime) - Date.now()) / HOUR_MS);

test('an hour ahead: what is wanted is done once, then nothing is written; who is an hour behind sees that the lease is held', async () => {
  const times = writesOf(ahead);
  await world.make({ kind: 'addNode', name: 'node-1' }, service('web-1'));
  await world.settled([ahead, behind], SETTLED_MS);
  const before = await lease();
  expect(hoursOff(before)).toBe(1);
  expect(tooMany(times)).toEqual([]);
  // What is counted and remembered on the CloudProvider may follow a moment later.
  let quietSince = performance.now();
  await waitFor(
    () => {
      if (times.size > 0) quietSince = performance.now();
      times.clear();
      return performance.now() - quietSince > 2 * LEASE.durationMs;
    },
    { what: 'two lives of a lease without a write', timeoutMs: 4 * LEASE.durationMs },
  );
  const { holderIdentity, leaseTransitions } = await lease();
  expect({ holderIdentity, leaseTransitions }).toEqual({
    holderIdentity: before.holderIdentity,
    leaseTransitions: before.leaseTransitions,
  });
});

test('an hour behind: it takes over in the lease’s time, and does what is wanted once', async () => {
  const before = await lease();
  const times = writesOf(behind);
  const killedAt = performance.now();
  await ahead.kill();
  await waitFor(async () => (await lease()).holderIdentity !== before.holderIdentity, { what: 'a new leader', timeoutMs: SETTLED_MS });
  expect(performance.now() - killedAt).toBeLessThan(LEASE.durationMs + 5_000);
  expect(hoursOff(await lease())).toBe(-1);
  await world.make({ kind: 'addNode', name: 'node-2' }, service('web-2'), { kind: 'changePorts', name: 'web-1', ports: [443] });
  await world.make({ kind: 'removeNode', name: 'node-1' });
  await world.settled([behind], SETTLED_MS);
  expect(tooMany(times)).toEqual([]);
  await world.make({ kind: 'deleteService', name: 'web-1' });
  await world.settled([behind], SETTLED_MS);
});
