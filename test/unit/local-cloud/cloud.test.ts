import type { Address, Instance, LoadBalancer, Route, TargetPool, Family } from '../../../providers/local/api';
import { waitFor } from '../../harness/wait-for';
import { containing, dispose, makeLoadBalancer, openCloud, RecordingDataPlane, refusal, type Fixture } from './cloud-fixture';

describe('Cloud', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await openCloud();
  });
  afterEach(() => dispose(fixture));

  const get = <T>(collection: Parameters<Fixture['cloud']['entry']>[0], id: string) => fixture.cloud.entry(collection, id).resource as T;

  describe('create', () => {
    test('answers with the resource as the data plane left it', async () => {
      const { balancer, instance } = await makeLoadBalancer(fixture.cloud);
      expect(balancer).toMatchObject({ state: 'active', etag: 'g1', hostPorts: [{ listener: 'http', ip: '10.201.0.1', port: 80 }] });
      expect(instance).toMatchObject({ netns: `ns-${instance.id}`, power: 'running', providerID: `local:///local-a/${instance.id}` });
      expect(fixture.plane.plans.get(balancer.id)?.listeners[0]?.pool.targets).toEqual([
        { instanceID: instance.id, port: 30080, addresses: ['10.200.0.1'] },
      ]);
    });

    test('the same client token gives the same resource, also when both come at once', async () => {
      const spec = { name: 'a', clientToken: 'token' };
      const [first, second] = await Promise.all([fixture.cloud.create('addresses', spec), fixture.cloud.create('addresses', spec)]);
      expect(second.resource).toEqual(first.resource);
      expect([first.fresh, second.fresh]).toEqual([true, false]);
      expect(second.operation).toEqual(first.operation);
      expect(fixture.store.state.count('addresses')).toBe(1);
    });

    test('a repeated create waits for the first one', async () => {
      const { pool, address, balancer } = await makeLoadBalancer(fixture.cloud);
      await fixture.cloud.remove('loadbalancers', balancer.id);
      let open: () => void = () => undefined;
      fixture.plane.gate = new Promise((resolve) => (open = resolve));
      const listeners = [{ name: 'http', protocol: 'TCP', port: 80, poolID: pool.id }];
      const spec = { name: 'late', addressIDs: [address.id], listeners, clientToken: 't' };
      const states: string[] = [];
      const note = (made: { resource: { state: string } }) => void states.push(made.resource.state);
      const both = [fixture.cloud.create('loadbalancers', spec).then(note), fixture.cloud.create('loadbalancers', spec).then(note)];
      await fixture.store.durable();
      expect(states).toEqual([]);
      open();
      await Promise.all(both);
      expect(states).toEqual(['active', 'active']);
    });

    test('a token with another spec is refused; that of a deleted resource is forgotten', async () => {
      const { resource } = await fixture.cloud.create('addresses', { name: 'a', clientToken: 'token' });
      expect(await refusal(fixture.cloud.create('addresses', { name: 'b', clientToken: 'token' }))).toMatchObject({
        code: 'TokenMismatch',
        status: 409,
      });
      await fixture.cloud.remove('addresses', resource.id);
      const again = await fixture.cloud.create('addresses', { name: 'a', clientToken: 'token' });
      expect(again.fresh).toBe(true);
      expect(again.resource.id).not.toBe(resource.id);
    });

    test('a name belongs to one living resource', async () => {
      const { resource } = await fixture.cloud.create('instances', { name: 'n' });
      expect(await refusal(fixture.cloud.create('instances', { name: 'n' }))).toMatchObject({ code: 'NameTaken', field: 'name' });
      await fixture.cloud.update('instances', resource.id, { power: 'terminated' });
      await expect(fixture.cloud.create('instances', { name: 'n' })).resolves.toMatchObject({ fresh: true });
    });

    test('addresses: asked for, taken, outside, and the first free one', async () => {
      const fixed = await fixture.cloud.create('addresses', { name: 'fixed', requestedIP: '10.201.0.1' });
      expect(fixed.resource).toMatchObject({ ip: '10.201.0.1', requestedIP: '10.201.0.1' });
      expect(await refusal(fixture.cloud.create('addresses', { name: 'b', requestedIP: '10.201.0.1' }))).toMatchObject({
        code: 'AddressInUse',
        field: 'requestedIP',
        message: containing('fixed'),
      });
      expect(await refusal(fixture.cloud.create('addresses', { name: 'b', requestedIP: '192.0.2.1' }))).toMatchObject({
        code: 'InvalidArgument',
        field: 'requestedIP',
        message: containing('10.201.0.1 to 10.201.255.224'),
      });
      expect((await fixture.cloud.create('addresses', { name: 'next' })).resource).toMatchObject({ ip: '10.201.0.2' });
      await fixture.cloud.remove('addresses', fixed.resource.id);
      expect((await fixture.cloud.create('addresses', { name: 'reused' })).resource).toMatchObject({ ip: '10.201.0.1' });
    });

    test('a route table is not for sale', async () => {
      expect(await refusal(fixture.cloud.create('routetables', { name: 'mine' }))).toMatchObject({ code: 'Forbidden', status: 403 });
    });
  });

  describe('bad input names its field', () => {
    const listener = { name: 'http', protocol: 'TCP', port: 80, poolID: 'POOL' };
    test.each<[string, 'instances' | 'addresses' | 'loadbalancers' | 'pools' | 'routes', Record<string, unknown>, string]>([
      ['no name', 'instances', {}, 'name'],
      ['bad name', 'instances', { name: ' x' }, 'name'],
      ['unknown field', 'instances', { name: 'x', size: 3 }, 'size'],
      ['bad tag value', 'instances', { name: 'x', tags: { a: 1 } }, 'tags.a'],
      ['bad pod range', 'instances', { name: 'x', podCIDRs: ['10.0.0.0/24', '10.0.0.0/33'] }, 'podCIDRs[1]'],
      ['empty command', 'instances', { name: 'x', process: { command: [] } }, 'process.command'],
      ['IPv6 address of IPv4', 'addresses', { name: 'x', requestedIP: 'fd00::1' }, 'requestedIP'],
      ['bad requested IP', 'addresses', { name: 'x', requestedIP: '10.0.0' }, 'requestedIP'],
      ['no address', 'loadbalancers', { name: 'x', addressIDs: [], listeners: [] }, 'addressIDs'],
      ['unknown address', 'loadbalancers', { name: 'x', addressIDs: ['addr-none'], listeners: [] }, 'addressIDs[0]'],
      ['port 0', 'loadbalancers', { name: 'x', addressIDs: ['ADDRESS'], listeners: [{ ...listener, port: 0 }] }, 'listeners[0].port'],
      [
        'unknown pool',
        'loadbalancers',
        { name: 'x', addressIDs: ['ADDRESS'], listeners: [{ ...listener, poolID: 'p' }] },
        'listeners[0].poolID',
      ],
      [
        'pool of UDP',
        'loadbalancers',
        { name: 'x', addressIDs: ['ADDRESS'], listeners: [{ ...listener, protocol: 'UDP' }] },
        'listeners[0].poolID',
      ],
      [
        'same name twice',
        'loadbalancers',
        { name: 'x', addressIDs: ['ADDRESS'], listeners: [listener, { ...listener, port: 81 }] },
        'listeners[1].name',
      ],
      [
        'same port twice',
        'loadbalancers',
        { name: 'x', addressIDs: ['ADDRESS'], listeners: [listener, { ...listener, name: 'b' }] },
        'listeners[1].port',
      ],
      [
        'bad source range',
        'loadbalancers',
        { name: 'x', addressIDs: ['ADDRESS'], listeners: [], sourceRanges: ['10.0.0.0/33'] },
        'sourceRanges[0]',
      ],
      ['unknown target', 'pools', { name: 'x', protocol: 'TCP', targets: [{ instanceID: 'i-none', port: 1 }] }, 'targets[0].instanceID'],
      ['bad protocol', 'pools', { name: 'x', protocol: 'SCTP' }, 'protocol'],
      ['path of a TCP check', 'pools', { name: 'x', protocol: 'TCP', healthCheck: { protocol: 'TCP', path: '/x' } }, 'healthCheck.path'],
      ['path without a slash', 'pools', { name: 'x', protocol: 'TCP', healthCheck: { protocol: 'HTTP', path: 'x' } }, 'healthCheck.path'],
      [
        'slow check',
        'pools',
        { name: 'x', protocol: 'TCP', healthCheck: { protocol: 'TCP', intervalMs: 100, timeoutMs: 200 } },
        'healthCheck.timeoutMs',
      ],
      ['host bits', 'routes', { name: 'x', destinationCIDR: '10.244.1.1/24', instanceID: 'INSTANCE' }, 'destinationCIDR'],
      ['unknown instance', 'routes', { name: 'x', destinationCIDR: '10.244.1.0/24', instanceID: 'i-none' }, 'instanceID'],
      [
        'unknown table',
        'routes',
        { name: 'x', destinationCIDR: '10.244.1.0/24', instanceID: 'INSTANCE', routeTableID: 'rtb' },
        'routeTableID',
      ],
      ['long token', 'instances', { name: 'x', clientToken: 'x'.repeat(257) }, 'clientToken'],
    ])('%s', async (_title, collection, spec, field) => {
      const { instance, pool } = await makeLoadBalancer(fixture.cloud);
      const address = (await fixture.cloud.create('addresses', { name: 'free' })).resource;
      const filled: unknown = JSON.parse(
        JSON.stringify(spec)
          .replaceAll('"ADDRESS"', `"${address.id}"`)
          .replaceAll('"POOL"', `"${pool.id}"`)
          .replaceAll('"INSTANCE"', `"${instance.id}"`),
      );
      const count = fixture.store.state.count(collection);
      expect(await refusal(fixture.cloud.create(collection, filled))).toMatchObject({ code: 'InvalidArgument', status: 400, field });
      expect(fixture.store.state.count(collection)).toBe(count);
    });

    test.each([null, 'text', 7, []])('a body that is %j', async (body) => {
      expect(await refusal(fixture.cloud.create('instances', body))).toMatchObject({ code: 'InvalidArgument' });
    });
  });

  describe('update', () => {
    test('raises the etag once for a change, and not for none', async () => {
      const { pool } = await makeLoadBalancer(fixture.cloud);
      expect((await fixture.cloud.update('pools', pool.id, { drainMs: 1 })).resource).toMatchObject({
        etag: 'g2',
        drainMs: 1,
        state: 'active',
      });
      expect((await fixture.cloud.update('pools', pool.id, { drainMs: 1 })).resource.etag).toBe('g2');
    });

    test('targets leave the etag alone, and reach the data plane', async () => {
      const { pool, balancer } = await makeLoadBalancer(fixture.cloud);
      const { resource } = await fixture.cloud.setTargets(pool.id, { targets: [] });
      expect(resource).toMatchObject({ etag: 'g1', targets: [] });
      expect(fixture.plane.plans.get(balancer.id)?.listeners[0]?.pool.targets).toEqual([]);
    });

    test.each<[string, string | undefined, string]>([
      ['no If-Match', undefined, 'done'],
      ['the etag', 'g1', 'done'],
      ['the etag in quotes', '"g1"', 'done'],
      ['any', '*', 'done'],
      ['an old one', '"g0"', 'EtagMismatch'],
    ])('If-Match: %s', async (_title, ifMatch, outcome) => {
      const { pool } = await makeLoadBalancer(fixture.cloud);
      const update = fixture.cloud.update('pools', pool.id, { drainMs: 2 }, ifMatch === undefined ? {} : { ifMatch });
      expect(outcome === 'done' ? (await update).operation.state : (await refusal(update)).code).toBe(outcome);
    });

    test('a field that is fixed may be repeated, not changed', async () => {
      const { address } = await makeLoadBalancer(fixture.cloud);
      await fixture.cloud.update('addresses', address.id, { family: 'IPv4', tags: { a: 'b' } });
      expect(await refusal(fixture.cloud.update('addresses', address.id, { requestedIP: '10.201.0.9' }))).toMatchObject({
        field: 'requestedIP',
      });
      expect(await refusal(fixture.cloud.update('addresses', address.id, { ip: '10.201.0.9' }))).toMatchObject({
        message: containing('these can: tags'),
      });
    });

    test('an address goes from one load balancer to another only through free', async () => {
      const one = await makeLoadBalancer(fixture.cloud, 'one');
      const two = await makeLoadBalancer(fixture.cloud, 'two');
      const take = () => fixture.cloud.update('loadbalancers', two.balancer.id, { addressIDs: [one.address.id] });
      expect(await refusal(take())).toMatchObject({
        code: 'AddressInUse',
        field: 'addressIDs[0]',
        message: containing('one'),
      });
      const spare = (await fixture.cloud.create('addresses', { name: 'spare' })).resource;
      await fixture.cloud.update('loadbalancers', one.balancer.id, { addressIDs: [spare.id] });
      await take();
      expect(get<Address>('addresses', one.address.id).loadBalancerID).toBe(two.balancer.id);
      expect(get<Address>('addresses', two.address.id)).not.toHaveProperty('loadBalancerID');
    });

    test('many changes of one load balancer at once cost two runs, and the last one stands', async () => {
      const { pool, balancer } = await makeLoadBalancer(fixture.cloud);
      const before = fixture.plane.applications;
      await Promise.all(Array.from({ length: 20 }, (_, index) => fixture.cloud.update('pools', pool.id, { drainMs: 1000 + index })));
      expect(fixture.plane.applications - before).toBeLessThanOrEqual(3);
      expect(fixture.plane.plans.get(balancer.id)?.listeners[0]?.pool.drainMs).toBe(1019);
      expect(get<TargetPool>('pools', pool.id)).toMatchObject({ state: 'active', etag: 'g21' });
    });
  });

  describe('delete', () => {
    test('refuses what is in use, and says by whom', async () => {
      const { address, pool, balancer } = await makeLoadBalancer(fixture.cloud);
      for (const [collection, id] of [
        ['addresses', address.id],
        ['pools', pool.id],
      ] as const) {
        expect(await refusal(fixture.cloud.remove(collection, id))).toMatchObject({
          code: 'InUse',
          message: containing(balancer.id),
        });
      }
      expect(await refusal(fixture.cloud.remove('routetables', 'rtb-main'))).toMatchObject({ code: 'InUse' });
      await fixture.cloud.remove('loadbalancers', balancer.id);
      expect(fixture.plane.plans.size).toBe(0);
      await fixture.cloud.remove('pools', pool.id);
      await fixture.cloud.remove('addresses', address.id);
      expect(await refusal(fixture.cloud.remove('addresses', address.id))).toMatchObject({ code: 'NotFound', status: 404 });
    });

    test('two at once are one', async () => {
      const { balancer } = await makeLoadBalancer(fixture.cloud);
      const [one, two] = await Promise.all([
        fixture.cloud.remove('loadbalancers', balancer.id),
        fixture.cloud.remove('loadbalancers', balancer.id),
      ]);
      expect(two).toEqual(one);
      expect(one.state).toBe('done');
    });

    test.each<[string, (id: string) => Promise<unknown>]>([
      ['deleted', (id) => fixture.cloud.remove('instances', id)],
      ['terminated', (id) => fixture.cloud.update('instances', id, { power: 'terminated' })],
    ])('an instance that is %s leaves its pools, and its routes become black holes', async (_title, end) => {
      const { instance, pool, balancer } = await makeLoadBalancer(fixture.cloud);
      const route = (await fixture.cloud.create('routes', { name: 'r', destinationCIDR: '10.244.1.0/24', instanceID: instance.id }))
        .resource;
      expect(route).toMatchObject({ routeState: 'active', enforced: 'kernel' });
      await end(instance.id);
      expect(get<TargetPool>('pools', pool.id).targets).toEqual([]);
      expect(fixture.plane.plans.get(balancer.id)?.listeners[0]?.pool.targets).toEqual([]);
      expect(get<Route>('routes', route.id).routeState).toBe('blackhole');
      expect(fixture.plane.routes).toMatchObject([{ id: route.id, routeState: 'blackhole' }]);
      expect(fixture.plane.instances.size).toBe(0);
      const other = (await fixture.cloud.create('instances', { name: 'other' })).resource;
      expect((await fixture.cloud.update('routes', route.id, { instanceID: other.id })).resource).toMatchObject({ routeState: 'active' });
    });

    test('a stopped instance keeps targets and routes, and starts again; a terminated one does not', async () => {
      const { instance, pool } = await makeLoadBalancer(fixture.cloud);
      await fixture.cloud.update('instances', instance.id, { power: 'stopped' });
      expect(get<TargetPool>('pools', pool.id).targets).toHaveLength(1);
      expect((await fixture.cloud.update('instances', instance.id, { power: 'running' })).resource).toMatchObject({ power: 'running' });
      await fixture.cloud.update('instances', instance.id, { power: 'terminated' });
      expect(await refusal(fixture.cloud.update('instances', instance.id, { power: 'running' }))).toMatchObject({ field: 'power' });
    });
  });

  describe('a data plane that fails', () => {
    test('the call is refused, the resource marked, and the cloud tries again until it works', async () => {
      const { balancer } = await makeLoadBalancer(fixture.cloud);
      fixture.plane.broken = 'port 80 is taken';
      const update = fixture.cloud.update('loadbalancers', balancer.id, { sourceRanges: ['10.0.0.0/8'] });
      expect(await refusal(update)).toMatchObject({
        code: 'Unavailable',
        status: 503,
        message: containing('port 80 is taken'),
      });
      expect(get<LoadBalancer>('loadbalancers', balancer.id)).toMatchObject({
        state: 'error',
        message: containing('port 80'),
      });
      const tried = fixture.plane.applications;
      fixture.clock.advance(1000);
      await waitFor(() => fixture.plane.applications > tried && fixture.clock.waiting > 0, {
        timeoutMs: 5000,
        what: 'the second try',
        pollMs: 5,
      });
      fixture.plane.broken = undefined;
      fixture.clock.advance(2000);
      await waitFor(() => get<LoadBalancer>('loadbalancers', balancer.id).state === 'active', {
        timeoutMs: 5000,
        what: 'recovery',
        pollMs: 5,
      });
      expect(get<LoadBalancer>('loadbalancers', balancer.id)).not.toHaveProperty('message');
      expect(fixture.plane.plans.get(balancer.id)?.sourceRanges).toEqual(['10.0.0.0/8']);
      expect(fixture.clock.waiting).toBe(0);
    });

    test('a create with the same token tries at once', async () => {
      const { spec, balancer } = await makeLoadBalancer(fixture.cloud);
      await fixture.cloud.remove('loadbalancers', balancer.id);
      fixture.plane.broken = 'no';
      const again = () => fixture.cloud.create('loadbalancers', { ...spec, clientToken: 't' });
      expect(await refusal(again())).toMatchObject({ code: 'Unavailable' });
      expect(await refusal(again())).toMatchObject({ code: 'Unavailable' });
      fixture.plane.broken = undefined;
      expect((await again()).resource.state).toBe('active');
      expect(fixture.store.state.count('loadbalancers')).toBe(1);
    });

    test('a delete stays on its way, and the address is not free before the data plane has let go', async () => {
      const { balancer, address } = await makeLoadBalancer(fixture.cloud);
      fixture.plane.broken = 'no';
      expect(await refusal(fixture.cloud.remove('loadbalancers', balancer.id))).toMatchObject({ code: 'Unavailable' });
      expect(get<LoadBalancer>('loadbalancers', balancer.id).state).toBe('deleting');
      expect(await refusal(fixture.cloud.remove('addresses', address.id))).toMatchObject({ code: 'InUse' });
      expect(await refusal(fixture.cloud.update('loadbalancers', balancer.id, { sourceRanges: [] }))).toMatchObject({ code: 'InUse' });
      fixture.plane.broken = undefined;
      fixture.clock.advance(1000);
      await waitFor(() => fixture.store.state.count('loadbalancers') === 0, { timeoutMs: 5000, what: 'the end', pollMs: 5 });
      await fixture.cloud.remove('addresses', address.id);
    });
  });

  test('stuckPending: recorded and answered, applied when released', async () => {
    const { spec, balancer } = await makeLoadBalancer(fixture.cloud);
    await fixture.cloud.remove('loadbalancers', balancer.id);
    const made = await fixture.cloud.create('loadbalancers', spec, { stuck: true });
    expect([made.resource.state, made.operation.state]).toEqual(['pending', 'running']);
    expect(fixture.plane.plans.size).toBe(0);
    await fixture.cloud.release();
    expect(get<LoadBalancer>('loadbalancers', made.resource.id).state).toBe('active');
    expect(fixture.store.state.operation(made.operation.id)?.state).toBe('done');
  });

  test('pools show what the data plane sees, and initial for what it does not know', async () => {
    const { pool, instance } = await makeLoadBalancer(fixture.cloud);
    const lonely = (
      await fixture.cloud.create('pools', { name: 'lonely', protocol: 'TCP', targets: [{ instanceID: instance.id, port: 1 }] })
    ).resource;
    const shown = (await fixture.cloud.show([get<TargetPool>('pools', pool.id), lonely])) as TargetPool[];
    expect(shown.map(({ health }) => health[0]?.state)).toEqual(['healthy', 'initial']);
  });

  describe('restart', () => {
    test('the same ids, addresses, etags and tokens; everything applied again', async () => {
      const { balancer, instance } = await makeLoadBalancer(fixture.cloud);
      await fixture.cloud.create('addresses', { name: 'tokened', clientToken: 'token' });
      await fixture.cloud.create('routes', { name: 'r', destinationCIDR: '10.244.1.0/24', instanceID: instance.id });
      const before = fixture.store.state.image();
      await fixture.close();
      const plane = fixture.plane;
      fixture = await openCloud({ directory: fixture.directory });
      expect(fixture.store.state.image()).toEqual({ ...before, nextOrder: fixture.store.state.image().nextOrder });
      expect([...fixture.plane.plans]).toEqual([...plane.plans]);
      expect(fixture.plane.instances).toEqual(plane.instances);
      expect(fixture.plane.routes.map(({ id, routeState }) => [id, routeState])).toEqual(plane.routes.map(({ id }) => [id, 'active']));
      expect(fixture.plane.applications).toBe(1);
      expect((await fixture.cloud.create('addresses', { name: 'tokened', clientToken: 'token' })).fresh).toBe(false);
      expect(get<LoadBalancer>('loadbalancers', balancer.id)).toEqual(balancer);
    });

    test.each<[string, 'create' | 'update' | 'delete', string | undefined]>([
      ['a create', 'create', 'active'],
      ['an update', 'update', 'active'],
      ['a delete', 'delete', undefined],
    ])('ends %s that was interrupted', async (_title, verb, state) => {
      const { spec, balancer, address } = await makeLoadBalancer(fixture.cloud);
      let id = balancer.id;
      if (verb === 'create') {
        await fixture.cloud.remove('loadbalancers', id);
        id = (await fixture.cloud.create('loadbalancers', spec, { stuck: true })).resource.id;
      }
      if (verb === 'update') await fixture.cloud.update('loadbalancers', id, { sourceRanges: ['10.0.0.0/8'] }, { stuck: true });
      if (verb === 'delete') await fixture.cloud.remove('loadbalancers', id, { stuck: true });
      await fixture.close();
      fixture = await openCloud({ directory: fixture.directory });
      expect(fixture.store.state.get('loadbalancers', id)?.resource.state).toBe(state);
      expect(fixture.plane.plans.has(id)).toBe(state !== undefined);
      expect(get<Address>('addresses', address.id).loadBalancerID).toBe(state === undefined ? undefined : id);
      expect(fixture.store.state.operations().map(({ operation }) => operation.state)).not.toContain('running');
    });

    test('another tier gives other addresses to the same resources', async () => {
      const { instance, address, balancer } = await makeLoadBalancer(fixture.cloud);
      const both = (await fixture.cloud.create('instances', { name: 'both', ipFamilies: ['IPv6', 'IPv4'] })).resource;
      const own = (await fixture.cloud.create('instances', { name: 'own', addresses: ['192.0.2.7', '2001:db8::7'] })).resource;
      const wide = (await fixture.cloud.create('addresses', { name: 'wide', family: 'IPv6' })).resource;
      expect(get<Instance>('instances', both.id).addresses.map(({ ip }) => ip)).toEqual(['fd00:10:200::2', '10.200.0.2']);
      expect(get<Address>('addresses', wide.id).ip).toBe('fd00:10:201::1');
      await fixture.close();
      const plane = new (class extends RecordingDataPlane {
        override readonly topology = {
          tier: 'loopback' as const,
          reason: 'test',
          loadBalancerCIDR: '127.20.0.0/24',
          nodeCIDR: '127.10.0.0/24',
          podCIDR: '10.244.0.0/16',
          ipv6: { loadBalancerCIDR: '::1/128' },
          netns: [],
        };
        override instanceAddress = (index: number) => `127.10.0.${index}`;
        override loadBalancerAddress = (index: number, family: Family) => (family === 'IPv6' ? '::1' : `127.20.0.${index}`);
      })();
      fixture = await openCloud({ directory: fixture.directory, plane });
      expect(get<Instance>('instances', instance.id).addresses).toEqual([{ family: 'IPv4', ip: '127.10.0.1' }]);
      expect(get<Address>('addresses', address.id).ip).toBe('127.20.0.1');
      expect(get<LoadBalancer>('loadbalancers', balancer.id).hostPorts).toMatchObject([{ ip: '127.20.0.1' }]);
      // Its machines have no IPv6, its load balancers share one address; what came with addresses of its own keeps them.
      expect(get<Instance>('instances', both.id).addresses).toEqual([{ family: 'IPv4', ip: '127.10.0.2' }]);
      expect(get<Address>('addresses', wide.id).ip).toBe('::1');
      expect((await fixture.cloud.create('addresses', { name: 'wide-2', family: 'IPv6' })).resource).toMatchObject({ ip: '::1' });
      expect(get<Instance>('instances', own.id).addresses.map(({ ip }) => ip)).toEqual(['192.0.2.7', '2001:db8::7']);
      await expect(fixture.cloud.create('instances', { name: 'x', ipFamilies: ['IPv6'] })).rejects.toMatchObject({
        body: { code: 'InvalidArgument', field: 'ipFamilies[0]' },
      });
    });
  });

  test('the addresses of a machine that the cloud did not make follow it, and those of one that it made stay', async () => {
    const { create, update } = { create: fixture.cloud.create.bind(fixture.cloud), update: fixture.cloud.update.bind(fixture.cloud) };
    const own = (await create('instances', { name: 'own', addresses: ['192.0.2.7'] })).resource;
    const made = (await create('instances', { name: 'made' })).resource;
    const pool = (await create('pools', { name: 'p', protocol: 'TCP', targets: [{ instanceID: own.id, port: 80 }] })).resource;
    const address = (await create('addresses', { name: 'a' })).resource;
    const listeners = [{ name: 'http', protocol: 'TCP', port: 80, poolID: pool.id }];
    const balancer = (await create('loadbalancers', { name: 'lb', addressIDs: [address.id], listeners })).resource;
    await update('instances', own.id, { addresses: ['192.0.2.8', '2001:db8::8'] });
    expect(fixture.plane.plans.get(balancer.id)?.listeners[0]?.pool.targets[0]?.addresses).toEqual(['192.0.2.8', '2001:db8::8']);
    const { etag } = get<Instance>('instances', own.id);
    await update('instances', own.id, { addresses: ['192.0.2.8', '2001:db8::8'] });
    expect(get<Instance>('instances', own.id).etag).toBe(etag);
    await expect(update('instances', made.id, { addresses: ['192.0.2.9'] })).rejects.toMatchObject({ body: { field: 'addresses' } });
  });

  test.each<[string, object, string]>([
    ['an address twice', { addresses: ['192.0.2.1', '192.0.2.1'] }, 'addresses[1]'],
    ['another machine’s address', { addresses: ['192.0.2.9'] }, 'addresses[0]'],
    ['a name for an address', { addresses: ['node-1'] }, 'addresses[0]'],
    ['a process', { addresses: ['192.0.2.1'], process: { command: ['true'] } }, 'process'],
    ['families', { addresses: ['192.0.2.1'], ipFamilies: ['IPv4'] }, 'ipFamilies'],
  ])('a machine that the cloud did not make can’t be registered with %s', async (_what, spec, field) => {
    await fixture.cloud.create('instances', { name: 'other', addresses: ['192.0.2.9'] });
    const refused = fixture.cloud.create('instances', { name: 'mine', ...spec });
    await expect(refused).rejects.toMatchObject({ body: { code: 'InvalidArgument', field } });
  });

  test('a list that lags shows the past, and only as long as it lags', async () => {
    const { history } = fixture.store;
    const names = (lagMs: number) => history.asOf('addresses', lagMs).map(({ resource }) => `${resource.name}${resource.tags['v'] ?? ''}`);
    history.keep(1000);
    fixture.clock.advance(10_000);
    const a = (await fixture.cloud.create('addresses', { name: 'a', tags: { v: '1' } })).resource;
    fixture.clock.advance(100);
    await fixture.cloud.update('addresses', a.id, { tags: { v: '2' } });
    await fixture.cloud.create('addresses', { name: 'b' });
    fixture.clock.advance(100);
    await fixture.cloud.remove('addresses', a.id);
    expect(names(0)).toEqual(['b']);
    expect(names(50)).toEqual(['a2', 'b']);
    expect(names(150)).toEqual(['a1']);
    expect(names(250)).toEqual([]);
  });
});
