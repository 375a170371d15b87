import { CLOUD_LOAD_BALANCERS, type CloudLoadBalancer } from '../../../crds';
import type { KubeObject } from '../../../operator/kube/object';
import { problemsOf } from '../../faults/checks';
import type { Operator } from '../../faults/operator';
import { People } from '../../faults/people';
import { isStateWrite } from '../../faults/phases';
import type { Exchange } from '../../faults/proxy';
import { FaultSystem } from '../../faults/system';
import { changed, EMPTY_WORLD, type Change, type World } from '../../faults/world';
import { waitFor } from '../../harness/wait-for';

const PORTS = [80, 443, 8080];
jest.setTimeout(150_000);

let system: FaultSystem;
let people: People;
let operator: Operator;
let world: World = EMPTY_WORLD;

beforeAll(async () => {
  system = await FaultSystem.start();
  people = new People(system);
  operator = await system.addOperator('operator');
  await operator.start();
  await make({ kind: 'addNode', name: 'node-1' });
});

afterAll(() => system?.stop());

async function make(change: Change): Promise<void> {
  await people.make(change);
  world = changed(world, change);
}

const isCreate = ({ side, method, path }: Exchange): boolean => side === 'cloud' && method === 'POST' && /^\/v1\/[a-z]+$/.test(path);

test('R-44 from the second create on, the state store refuses writes: the update stops, says so, and goes on without a double', async () => {
  const name = 'web';
  const created: string[] = [];
  let broken = true;
  operator.tap = (exchange, moment) => {
    if (moment === 'answered' && isCreate(exchange) && (exchange.answer?.status ?? 0) < 300) created.push(exchange.path);
    if (!broken || moment !== 'request' || created.length < 2 || !isStateWrite(exchange)) return 'pass';
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'Status', status: 'Failure', code: 403, reason: 'Forbidden', message: 'no' });
    return { status: 403, headers: { 'content-type': 'application/json' }, body };
  };
  await make({ kind: 'createService', name, service: { type: 'LoadBalancer', ports: PORTS, sourceRanges: [] } });
  await waitFor(
    async () => {
      const object = await system.kube.get<CloudLoadBalancer & KubeObject>(CLOUD_LOAD_BALANCERS, `default/${name}`);
      const ready = object?.status?.conditions?.find(({ type }) => type === 'Ready');
      return ready?.status === 'False' && ready.message.includes('state store');
    },
    { what: 'Ready=False with the state store as its cause', timeoutMs: 60_000 },
  );
  // What it could not record, it did not build upon.
  expect(created).not.toContain('/v1/loadbalancers');

  broken = false;
  await waitFor(
    async () => {
      const problems = await problemsOf(world, system, [operator]);
      if (problems.length === 0) return true;
      throw new Error(problems.join('; '));
    },
    { what: 'everything to be as wanted', timeoutMs: 75_000 },
  );
  expect(created.toSorted()).toEqual(['/v1/addresses', '/v1/loadbalancers', ...PORTS.map(() => '/v1/pools')]);
});
