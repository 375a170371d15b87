import type { CloudProcess } from './process';
import { Processes } from './process';

describe('a local cloud that dies', () => {
  const processes = new Processes();
  afterEach(() => processes.cleanUp());

  test('SIGKILL in the middle of writes: no answered create is lost, none is there twice', async () => {
    const directory = await processes.directory();
    const answered = new Map<string, string>();
    let round = 0;
    for (; round < 3; round++) {
      const cloud = await processes.start(directory);
      const enough = countdown(40 + 17 * round);
      const writers = Array.from({ length: 8 }, (_, writer) =>
        createUntilDead(cloud, `r${round}w${writer}`, (name, id) => {
          answered.set(name, id);
          enough.tick();
        }),
      );
      await enough.reached;
      expect(await cloud.end('SIGKILL')).toBe('SIGKILL');
      await Promise.all(writers);
    }
    const cloud = await processes.start(directory);
    const found = new Map((await cloud.list('addresses', '?pageSize=1000')).map(({ name, id }) => [name, id]));
    for (const [name, id] of answered) expect([name, found.get(name)]).toEqual([name, id]);
    expect(answered.size).toBeGreaterThan(150);
    // Whoever heard nothing asks again with the token, and has it then, once.
    for (const name of found.keys()) {
      const again = await cloud.create('addresses', { name, clientToken: name });
      expect([again.status, again.body.resource.id]).toEqual([200, found.get(name)]);
    }
    expect(await cloud.list('addresses', '?pageSize=1000')).toHaveLength(found.size);
  });

  test.each<[string, boolean]>([
    ['before-journal', false],
    ['torn-journal', false],
    ['journal', true],
    ['dataplane', true],
  ])('crash at %s: the create is there after the restart: %s; with its token it is there once', async (crash, kept) => {
    const cloud = await processes.start();
    await cloud.create('addresses', { name: 'before' });
    await cloud.faults({ match: { verb: 'create' }, act: { crash } });
    await expect(cloud.create('addresses', { name: 'lost', clientToken: 't' })).rejects.toThrow();
    expect(await cloud.ended()).toBe('SIGKILL');

    const again = await processes.start(cloud.directory);
    const listed = await again.list('addresses');
    expect(listed.map(({ name, state }) => [name, state])).toEqual([['before', 'active'], ...(kept ? [['lost', 'active']] : [])]);
    expect(again.stderr().includes('not finished')).toBe(crash === 'torn-journal');
    expect((await again.create('addresses', { name: 'lost', clientToken: 't' })).status).toBe(kept ? 200 : 201);
    expect(await again.list('addresses', '?name=lost')).toHaveLength(1);
  });

  test('loseResponse: the retry with the same token gives the one that was made', async () => {
    const cloud = await processes.start();
    await cloud.faults({ match: { verb: 'create', collection: 'addresses' }, times: 1, act: { loseResponse: true } });
    await expect(cloud.create('addresses', { name: 'a', clientToken: 't' })).rejects.toThrow(/hang up|ECONNRESET/);
    const [made] = await cloud.list('addresses');
    const retry = await cloud.create('addresses', { name: 'a', clientToken: 't' });
    expect(retry).toMatchObject({ status: 200, body: { resource: { id: made?.id } } });
    expect(await cloud.list('addresses')).toHaveLength(1);
    const { body } = await cloud.call('GET', '/_calls');
    expect(body).toMatchObject({ writes: 2 });
    expect(JSON.stringify(body)).toContain('{"verb":"create","collection":"addresses","code":201,"caller":"test","count":1}');
  });

  test('restart: same ids and addresses, next ones differ', async () => {
    const cloud = await processes.start();
    const node = (await cloud.create('instances', { name: 'n', podCIDRs: ['10.244.1.0/24'] })).body.resource;
    const address = (await cloud.create('addresses', { name: 'a' })).body.resource;
    const pool = (await cloud.create('pools', { name: 'p', protocol: 'TCP', targets: [{ instanceID: node.id, port: 80 }] })).body.resource;
    const listeners = [{ name: 'http', protocol: 'TCP', port: 80, poolID: pool.id }];
    const balancer = (await cloud.create('loadbalancers', { name: 'b', addressIDs: [address.id], listeners })).body.resource;
    expect(await cloud.end()).toBe(0);

    const again = await processes.start(cloud.directory);
    expect((await again.call('GET', `/v1/instances/${node.id}`)).body).toEqual(node);
    expect((await again.call('GET', `/v1/loadbalancers/${balancer.id}`)).body).toEqual(balancer);
    expect((await again.call('GET', `/v1/addresses/${address.id}`)).body).toEqual({ ...address, loadBalancerID: balancer.id });
    expect((await again.create('addresses', { name: 'next' })).body.resource.ip).not.toBe(address.ip);
  });
});

/** Creates one after another, each with its name as token, until the process is gone. */
async function createUntilDead(cloud: CloudProcess, prefix: string, onAnswer: (name: string, id: string) => void): Promise<void> {
  for (let index = 0; ; index++) {
    const name = `${prefix}-${index}`;
    try {
      const { body } = await cloud.create('addresses', { name, clientToken: name });
      onAnswer(name, body.resource.id);
    } catch {
      return; // the connection broke: the process is dead
    }
  }
}

function countdown(from: number): { tick(): void; reached: Promise<void> } {
  let left = from;
  let resolve: () => void = () => undefined;
  const reached = new Promise<void>((done) => (resolve = done));
  return {
    tick: () => {
      if (--left === 0) resolve();
    },
    reached,
  };
}
