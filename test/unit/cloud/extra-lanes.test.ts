import { silentLogger } from '../../../operator/base/log';
import { ExtraLanes } from '../../../operator/cloud/stack/extra-lanes';
import { KeyedQueue } from '../../../operator/kube/queue';
import { FakeClock, settle } from '../kube/fake-clock';

const PATIENCE_MS = 15_000;
const RETRY_MS = 5_000;

/** Stacks whose work ends when told to. */
class World {
  readonly clock = new FakeClock();
  /** In the order in which they began. */
  readonly began: string[] = [];
  readonly lanes: ExtraLanes;
  readonly ended: Promise<void>;
  private readonly stop = new AbortController();
  private readonly endings = new Map<string, (failure?: Error) => void>();

  constructor() {
    const { clock } = this;
    const queue = (name: string): KeyedQueue =>
      new KeyedQueue({ name, logger: silentLogger, clock, backOff: { baseMs: RETRY_MS, maxMs: RETRY_MS } });
    this.lanes = new ExtraLanes({ queue: queue('first'), slowQueue: queue('slow'), patienceMs: () => PATIENCE_MS, clock });
    this.ended = this.lanes.run((stack) => this.work(stack), this.stop.signal);
  }

  async add(...stacks: string[]): Promise<void> {
    stacks.forEach((stack) => this.lanes.add(stack));
    await settle();
  }

  async end(stack: string, failure?: Error): Promise<void> {
    this.endings.get(stack)?.(failure);
    this.endings.delete(stack);
    await settle();
  }

  abort(): void {
    this.stop.abort();
  }

  /** Has a stack fail after it has kept others waiting. */
  async hang(stack: string): Promise<void> {
    await this.add(stack);
    await this.clock.advance(PATIENCE_MS);
    await this.end(stack, new Error('stopped'));
  }

  private work(stack: string): Promise<void> {
    this.began.push(stack);
    return new Promise((resolve, reject) => this.endings.set(stack, (failure) => (failure === undefined ? resolve() : reject(failure))));
  }
}

let world: World;
beforeEach(() => {
  world = new World();
});

test('one after another, while they get on', async () => {
  await world.add('a', 'b', 'c');
  await world.clock.advance(PATIENCE_MS - 1);
  expect(world.began).toEqual(['a']);
  await world.end('a');
  expect(world.began).toEqual(['a', 'b']);
});

test('the others go on beside one that takes long, and beside one that hung before they do so at once', async () => {
  await world.add('hangs', 'b', 'c');
  await world.clock.advance(PATIENCE_MS);
  expect(world.began).toEqual(['hangs', 'b']);
  await world.end('b');
  expect(world.began).toEqual(['hangs', 'b', 'c']);
  await world.end('c');
  await world.end('hangs', new Error('stopped'));
  await world.clock.advance(RETRY_MS);
  expect(world.began.slice(3)).toEqual(['hangs']);
  await world.add('d');
  expect(world.began.slice(4)).toEqual(['d']);
});

test('those that hang wait for each other: workers are left for the load balancers', async () => {
  await world.hang('a');
  await world.hang('b');
  await world.clock.advance(RETRY_MS);
  await world.add('a', 'b', 'c');
  expect(world.began.slice(2)).toEqual(['a', 'c']);
  await world.end('a', new Error('stopped'));
  expect(world.began.slice(4)).toEqual(['b']);
});

test('one that takes long goes on before those that stand in the slow lane, so that nobody waits behind it', async () => {
  for (const stack of ['a', 'b']) await world.hang(stack);
  await world.clock.advance(RETRY_MS);
  expect(world.began.slice(2)).toEqual(['a']);
  await world.add('b', 'new', 'c');
  await world.clock.advance(PATIENCE_MS);
  expect(world.began.slice(3)).toEqual(['new']);
  await world.end('a', new Error('stopped'));
  expect(world.began.slice(4)).toEqual(['c']);
  await world.end('new');
  expect(world.began.slice(5)).toEqual(['b']);
});

test('one that took long and succeeded, or that gets on again, begins with the others', async () => {
  await world.add('slow', 'b');
  await world.clock.advance(PATIENCE_MS);
  await world.end('slow');
  await world.end('b');
  await world.hang('mended');
  await world.clock.advance(RETRY_MS);
  await world.end('mended');
  await world.add('slow', 'mended');
  expect(world.began.slice(4)).toEqual(['slow']);
  await world.end('slow');
  expect(world.began.slice(5)).toEqual(['mended']);
});

test('what is asked for while it goes on beside the others is done after it', async () => {
  await world.add('a', 'b');
  await world.clock.advance(PATIENCE_MS);
  await world.add('a', 'c');
  await world.end('b');
  expect(world.began).toEqual(['a', 'b', 'c']);
  await world.end('c');
  await world.end('a');
  expect(world.began).toEqual(['a', 'b', 'c', 'a']);
});

test('it ends when all has ended that runs, in either lane', async () => {
  let ended = false;
  void world.ended.then(() => (ended = true));
  await world.add('a', 'b');
  await world.clock.advance(PATIENCE_MS);
  world.abort();
  await world.end('b');
  expect(ended).toBe(false);
  await world.end('a');
  expect(ended).toBe(true);
});

test('a stack that is gone is forgotten: one of its name begins with the others', async () => {
  await world.hang('a');
  world.lanes.forget('a');
  await world.add('b', 'a');
  expect(world.began.slice(1)).toEqual(['b']);
});
