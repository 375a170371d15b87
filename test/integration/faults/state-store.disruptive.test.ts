import { join } from 'node:path';
import { CLOUD_LOAD_BALANCERS, CLOUD_STACKS, type Condition } from '../../../crds';
import type { KubeObject, ResourcePath } from '../../../operator/kube/object';
import { SmallDisk } from '../../faults/disk';
import type { Operator } from '../../faults/operator';
import { isStateWrite } from '../../faults/phases';
import type { Action, Exchange } from '../../faults/proxy';
import { FaultSystem } from '../../faults/system';
import { WantedWorld } from '../../faults/wanted-world';
import { Etcd } from '../../harness/etcd';
import { waitFor } from '../../harness/wait-for';

const PORTS = [80, 443, 8080];
/** By then everything is as wanted. */
const SETTLED_MS = 75_000;
jest.setTimeout(150_000);

let system: FaultSystem;
let operator: Operator;
let world: WantedWorld;

beforeAll(async () => {
  system = await FaultSystem.start();
  world = new WantedWorld(system);
  operator = await system.addOperator('operator');
  await operator.start();
  await world.make({ kind: 'addNode', name: 'node-1' });
});

afterAll(() => system?.stop());

const isCreate = ({ side, method, path }: Exchange): boolean => side === 'cloud' && method === 'POST' && /^\/v1\/[a-z]+$/.test(path);

type Named = KubeObject & { status?: { conditions?: Condition[] } };

/** No answer until whoever asked has given up. */
const stopped = new Promise<Action>(() => undefined);

async function conditionsOf(name: string): Promise<Condition[]> {
  return (await system.kube.get<Named>(CLOUD_LOAD_BALANCERS, `default/${name}`))?.status?.conditions ?? [];
}

/** Waits until every pool has so many targets. @param owner whose pools alone; absent = all */
async function targetsAre(count: number, owner?: string): Promise<void> {
  await waitFor(
    async () => {
      const pools = (await system.resources.list('pools')).filter(({ tags }) => owner === undefined || tags.owner === owner);
      if (pools.length > 0 && pools.every(({ targets }) => targets.length === count)) return true;
      throw new Error(pools.map(({ tags, targets }) => `${tags.owner}: ${targets.length}`).join(', '));
    },
    { what: `${count} targets in each pool`, timeoutMs: 45_000 },
  );
}

/** Waits until Ready of an object is as said; what its conditions say is shown where that does not come. */
async function readyOf(resource: ResourcePath, key: string, is: (ready: Condition) => boolean, what: string): Promise<Condition> {
  return waitFor(
    async () => {
      const ready = (await system.kube.get<Named>(resource, key))?.status?.conditions?.find(({ type }) => type === 'Ready');
      if (ready !== undefined && is(ready)) return ready;
      throw new Error(JSON.stringify(ready));
    },
    { what, timeoutMs: 30_000 },
  );
}

/** Answers of an API server that has trouble with its store. */
function refused(code: number, reason: string, message: string): Action {
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'Status', status: 'Failure', code, reason, message });
  return { status: code, headers: { 'content-type': 'application/json' }, body };
}

const isStateRead = ({ side, method, path }: Exchange): boolean => side === 'api' && method === 'GET' && path.includes('/secrets/stack-');

/** Writes of state of the stack that carries one load balancer. */
const isStateOf = (name: string, exchange: Exchange): boolean =>
  isStateWrite(exchange) && `${exchange.path} ${exchange.body}`.includes(`stack-lb-default-${name}-`);

test('R-44 from the second create on, the state store refuses writes: the update stops, says so, and goes on without a double', async () => {
  const name = 'web';
  const created: string[] = [];
  let broken = true;
  operator.tap = (exchange, moment) => {
    if (moment === 'answered' && isCreate(exchange) && (exchange.answer?.status ?? 0) < 300) created.push(exchange.path);
    if (!broken || moment !== 'request' || created.length < 2 || !isStateWrite(exchange)) return 'pass';
    return refused(403, 'Forbidden', 'no');
  };
  await world.make({ kind: 'createService', name, service: { type: 'LoadBalancer', ports: PORTS, sourceRanges: [] } });
  const ready = ({ status, message }: Condition): boolean => status === 'False' && message.includes('state store');
  await readyOf(CLOUD_LOAD_BALANCERS, `default/${name}`, ready, 'Ready=False with the state store as its cause');
  // What it could not record, it did not build upon.
  expect(created).not.toContain('/v1/loadbalancers');

  broken = false;
  await world.settled([operator], SETTLED_MS);
  expect(created.toSorted()).toEqual(['/v1/addresses', '/v1/loadbalancers', ...PORTS.map(() => '/v1/pools')]);
});

test('etcd itself is full from the second create on: nothing is built on what could not be stored, targets follow a Node that goes, and no double is left', async () => {
  await world.make({ kind: 'addNode', name: 'node-2' });
  await targetsAre(2);
  const etcd = new Etcd(system.paths.controlPlane);
  const created: string[] = [];
  operator.tap = async (exchange, moment): Promise<Action> => {
    if (moment !== 'answered' || !isCreate(exchange) || (exchange.answer?.status ?? 0) >= 300) return 'pass';
    created.push(exchange.path);
    if (created.length === 2) await etcd.setFull(true);
    return 'pass';
  };
  try {
    await world.make({ kind: 'createService', name: 'late', service: { type: 'LoadBalancer', ports: PORTS, sourceRanges: [] } });
    const [before] = await conditionsOf('web');
    await waitFor(() => Promise.resolve(operator.log().includes('etcd is full')), {
      what: 'the log to say that etcd is full',
      timeoutMs: 30_000,
    });
    await expect(world.make({ kind: 'changeRanges', name: 'web', sourceRanges: ['10.8.0.0/16'] })).rejects.toThrow(
      'database space exceeded',
    );
    await world.make({ kind: 'removeNode', name: 'node-2' });
    await targetsAre(1, 'default/web');
    expect(created).not.toContain('/v1/loadbalancers');
    expect((await conditionsOf('web'))[0]).toEqual(before);
    expect(operator.running).toBe(true);
  } finally {
    await etcd.setFull(false);
  }
  await world.settled([operator], SETTLED_MS);
  expect(created.toSorted()).toEqual(['/v1/addresses', '/v1/loadbalancers', ...PORTS.map(() => '/v1/pools')]);
  operator.tap = () => 'pass';
  await world.make({ kind: 'deleteService', name: 'late' });
  await world.settled([operator], SETTLED_MS);
});

test('a state store that answers 500 for long is told within seconds, what serves goes on, others are not held up, and it recovers by itself', async () => {
  let answer: Action = refused(500, 'InternalError', 'etcdserver: mvcc: database space exceeded');
  operator.tap = (exchange, moment) => (moment === 'request' && isStateOf('web', exchange) ? answer : 'pass');
  await world.make({ kind: 'changeRanges', name: 'web', sourceRanges: ['10.9.0.0/16'] });
  const isUnavailable = ({ reason }: Condition): boolean => reason === 'StateStoreUnavailable';
  const said = await readyOf(
    CLOUD_LOAD_BALANCERS,
    'default/web',
    isUnavailable,
    'the load balancer to say that its state can not be stored',
  );
  // It waits for the store: the update has not failed yet.
  expect(said.status).toBe('True');
  expect(said.message).toMatch(/^state store \(the Secrets in namespace cloud-operator-system\): PATCH .*database space exceeded/);
  expect(said.message).toMatch(/etcd is full: .* tried again every few seconds; if none succeeds by [0-9T:-]+Z, .* keeps serving\.$/);
  const [stack = ''] = (await system.states.list()).stacks
    .map(({ stack: name }) => name)
    .filter((name) => name.startsWith('lb-default-web-'));
  expect((await readyOf(CLOUD_STACKS, stack, isUnavailable, 'its stack to say so too')).message).toContain('database space exceeded');

  await world.make({ kind: 'createService', name: 'beside', service: { type: 'LoadBalancer', ports: [80], sourceRanges: [] } });
  await readyOf(CLOUD_LOAD_BALANCERS, 'default/beside', ({ reason }) => reason === 'Ready', 'another load balancer to be made meanwhile');
  await world.make({ kind: 'addNode', name: 'node-2' });
  await targetsAre(2);
  await readyOf(CLOUD_LOAD_BALANCERS, 'default/web', isUnavailable, 'the one with the change still to wait for the store');

  answer = refused(401, 'Unauthorized', 'Unauthorized');
  const refusal = ({ status, message }: Condition): boolean => status === 'False' && message.includes('check the token');
  await readyOf(CLOUD_LOAD_BALANCERS, 'default/web', refusal, 'the refusal to end the update, and to be told');
  await world.make({ kind: 'removeNode', name: 'node-2' });
  await targetsAre(1);
  answer = 'pass';
  await world.settled([operator], SETTLED_MS);
});

test.each<[string, () => Action | Promise<Action>]>([
  ['answers 500 to reads', () => refused(500, 'InternalError', 'etcdserver: request timed out')],
  ['does not answer reads', () => stopped],
])(
  'a state store that %s: who waits is told, what is unchanged stays Ready, targets follow the Nodes, and it recovers by itself',
  async (what, answer) => {
    operator.tap = (exchange, moment) => (moment === 'request' && isStateRead(exchange) ? answer() : 'pass');
    await world.make({ kind: 'changeRanges', name: 'web', sourceRanges: [`10.9.${what.length}.0/24`] });
    const waits = ({ status, reason }: Condition): boolean => status === 'False' && reason === 'StateStoreUnavailable';
    const { message } = await readyOf(CLOUD_LOAD_BALANCERS, 'default/web', waits, 'the one with a change to say why it waits');
    expect(message).toMatch(
      /state store \(the Secrets in namespace cloud-operator-system\): GET .*keeps serving\. Next try at [0-9T:-]+Z\.$/,
    );

    await world.make({ kind: 'addNode', name: 'node-2' });
    await targetsAre(2);
    const beside = await conditionsOf('beside');
    expect(beside.map(({ type, status, reason }) => [type, status, reason])).toEqual([
      ['Ready', 'True', 'Ready'],
      ['StateUnavailable', 'True', 'StateStoreUnavailable'],
    ]);
    await operator.kill();
    await world.make({ kind: 'removeNode', name: 'node-2' });
    await operator.start();
    await targetsAre(1);
    expect((await conditionsOf('beside'))[0]).toMatchObject({ type: 'Ready', status: 'True', reason: 'Ready' });
    operator.tap = () => 'pass';
    await world.settled([operator], SETTLED_MS);
  },
);

test('a state store that does not answer is told too', async () => {
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  operator.tap = async (exchange, moment): Promise<Action> => {
    if (moment === 'request' && isStateOf('beside', exchange)) await held;
    return 'pass';
  };
  await world.make({ kind: 'changeRanges', name: 'beside', sourceRanges: ['10.9.0.0/16'] });
  const silent = ({ reason, message }: Condition): boolean =>
    reason === 'StateStoreUnavailable' && message.includes('no answer to a write for 3 s');
  await readyOf(CLOUD_LOAD_BALANCERS, 'default/beside', silent, 'the silence to be told');
  letGo();
  await readyOf(CLOUD_LOAD_BALANCERS, 'default/beside', ({ reason }) => reason === 'Ready', 'the update to go on');
  await world.settled([operator], SETTLED_MS);
});

test('state in a folder that becomes read-only, or whose disk is full: one condition says so, what serves goes on, and it recovers by itself', async () => {
  const disk = SmallDisk.mount(join(system.paths.root, 'state'), 8);
  if (!disk.canFill) return; // only root can mount
  await operator.kill();
  operator = await system.addOperator('folder', ['--state-store=directory', `--state-directory=${disk.path}`]);
  await operator.start();
  try {
    for (const name of ['kept', 'also']) {
      await world.make({ kind: 'createService', name, service: { type: 'LoadBalancer', ports: [80], sourceRanges: [] } });
      await readyOf(CLOUD_LOAD_BALANCERS, `default/${name}`, ({ reason }) => reason === 'Ready', 'it to be made');
    }
    disk.setReadOnly(true);
    await world.make({ kind: 'changeRanges', name: 'kept', sourceRanges: ['10.9.0.0/16'] });
    const told = ({ reason }: Condition): boolean => reason === 'StateStoreUnavailable';
    const { message } = await readyOf(CLOUD_LOAD_BALANCERS, 'default/kept', told, 'it to say that the folder is read-only');
    expect(message).toContain(`state store (the folder ${disk.path}):`);
    expect(message).toMatch(/read-only.*EROFS.*name a path on a file system that can be written to.*keeps serving\. Next try at/);
    await world.make({ kind: 'addNode', name: 'node-2' });
    await targetsAre(2);
    disk.setReadOnly(false);
    await readyOf(CLOUD_LOAD_BALANCERS, 'default/kept', ({ reason }) => reason === 'Ready', 'it to be changed');

    disk.fill();
    await world.make({ kind: 'changeRanges', name: 'kept', sourceRanges: ['10.10.0.0/16'] });
    const full = await readyOf(CLOUD_LOAD_BALANCERS, 'default/kept', told, 'it to say that the disk is full');
    expect(full.message).toMatch(/ENOSPC.*free some space.*keeps serving/);
    await world.make({ kind: 'removeNode', name: 'node-2' });
    await targetsAre(1);
    expect((await conditionsOf('also'))[0]).toMatchObject({ type: 'Ready', status: 'True', reason: 'Ready' });
    disk.clear();
    await readyOf(CLOUD_LOAD_BALANCERS, 'default/kept', ({ reason }) => reason === 'Ready', 'it to be changed once there is room');
  } finally {
    disk.unmount();
  }
});
