import * as fc from 'fast-check';
import { cloudLoadBalancerSpec, type CloudLoadBalancerSpec, type CloudLoadBalancerSpecInput } from '../../../crds';
import { hashJson } from '../../../operator/base/json';
import { LocalLoadBalancers, type RenderedLoadBalancer } from '../../../providers/local/load-balancers';
import type { LoadBalancerInput } from '../../../providers/provider';

const loadBalancers = new LocalLoadBalancers({ clusterID: 'c1', providerName: 'local' });
const WEB = { name: 'web', protocol: 'TCP' as const, port: 80, nodePort: 30080 };
const DNS = { name: 'dns', protocol: 'UDP' as const, port: 53, nodePort: 30053 };

function specOf(fields: Partial<CloudLoadBalancerSpecInput> = {}): CloudLoadBalancerSpec {
  return cloudLoadBalancerSpec.parse({ provider: 'local', listeners: [WEB], local: {}, ...fields });
}

function inputOf(spec: CloudLoadBalancerSpec, uid = '11111111-2222-3333-4444-555555555555'): LoadBalancerInput {
  return { uid, namespace: 'demo', name: 'web', ownerUID: `0${uid.slice(1)}`, spec };
}

function renderOne(fields: Partial<CloudLoadBalancerSpecInput> = {}): RenderedLoadBalancer {
  const { loadBalancers: rendered } = loadBalancers.render('stack', [inputOf(specOf(fields))]) as unknown as {
    loadBalancers: RenderedLoadBalancer[];
  };
  expect(rendered).toHaveLength(1);
  return rendered[0]!;
}

describe('rendering load balancers', () => {
  it('names everything after the owner, as upstream names load balancers', () => {
    const rendered = renderOne({ listeners: [WEB, DNS] });
    expect(rendered).toMatchObject({
      name: 'a0111111122223333444455555555555',
      owner: 'demo/web',
      ownerUID: '01111111-2222-3333-4444-555555555555',
    });
    expect(rendered.addresses).toEqual([{ name: `${rendered.name}-v4`, family: 'IPv4' }]);
    expect(rendered.listeners.map(({ pool }) => pool.name)).toEqual([`${rendered.name}-udp-53`, `${rendered.name}-tcp-80`]);
  });

  it('says every value that the cloud would fill in', () => {
    expect(renderOne().listeners).toEqual([
      {
        name: 'web',
        protocol: 'TCP',
        port: 80,
        nodePort: 30080,
        idleTimeoutMs: 350_000,
        pool: {
          name: expect.stringMatching(/-tcp-80$/) as string,
          drainMs: 5_000,
          healthCheck: { protocol: 'TCP', intervalMs: 500, timeoutMs: 500, healthyThreshold: 1, unhealthyThreshold: 2 },
        },
      },
    ]);
  });

  it('takes health check, drain and idle time from the spec', () => {
    const healthCheck = {
      protocol: 'HTTP' as const,
      port: 32000,
      path: '/healthz',
      intervalSeconds: 10,
      timeoutSeconds: 3,
      healthyThreshold: 3,
    };
    const [listener] = renderOne({ healthCheck, local: { drainSeconds: 1, idleTimeoutSeconds: 2 } }).listeners;
    expect(listener).toMatchObject({ idleTimeoutMs: 2000, pool: { drainMs: 1000 } });
    expect(listener?.pool.healthCheck).toEqual({
      protocol: 'HTTP',
      port: 32000,
      path: '/healthz',
      intervalMs: 10_000,
      timeoutMs: 3000,
      healthyThreshold: 3,
      unhealthyThreshold: 2,
    });
  });

  it('never lets a check take longer than the interval', () => {
    const { healthCheck } = renderOne({ healthCheck: { timeoutSeconds: 5 } }).listeners[0]!.pool;
    expect(healthCheck).toMatchObject({ intervalMs: 5000, timeoutMs: 5000 });
  });

  it('has an address of each family, in the order of the families; names have no two colons', () => {
    const { addresses, name } = renderOne({ ipFamilies: ['IPv6', 'IPv4'], addresses: ['fd00::7'] });
    expect(addresses).toEqual([
      { name: `${name}-fd00--7`, family: 'IPv6', requestedIP: 'fd00::7' },
      { name: `${name}-v4`, family: 'IPv4' },
    ]);
  });

  it.each<[string, CloudLoadBalancerSpecInput['sessionAffinity'], number | undefined]>([
    ['none', undefined, undefined],
    ['None', { type: 'None' }, undefined],
    ['ClientIP', { type: 'ClientIP' }, 10_800_000],
    ['ClientIP with a time', { type: 'ClientIP', timeoutSeconds: 60 }, 60_000],
  ])('session affinity: %s', (_what, sessionAffinity, expected) => {
    const { pool } = renderOne(sessionAffinity === undefined ? {} : { sessionAffinity }).listeners[0]!;
    expect(pool.affinityMs).toBe(expected);
  });

  it('PROXY protocol is for TCP, policy Local means that only healthy Nodes get traffic, and both are left out where they are as usual', () => {
    const { listeners } = renderOne({ listeners: [WEB, DNS], trafficPolicy: 'Local', local: { proxyProtocol: 'V2' } });
    expect(Object.fromEntries(listeners.map(({ protocol, pool }) => [protocol, [pool.proxyProtocol, pool.failOpen]]))).toEqual({
      TCP: ['v2', false],
      UDP: [undefined, false],
    });
    expect(renderOne({ local: { proxyProtocol: 'V1' } }).listeners[0]?.pool.proxyProtocol).toBe('v1');
    const { pool } = renderOne({ local: { proxyProtocol: 'None' } }).listeners[0]!;
    expect(Object.keys(pool).sort()).toEqual(['drainMs', 'healthCheck', 'name']);
  });

  it('gives an address asked for a name of its own', () => {
    const { addresses, name } = renderOne({ addresses: ['127.20.0.9'] });
    expect(addresses).toEqual([{ name: `${name}-127.20.0.9`, family: 'IPv4', requestedIP: '127.20.0.9' }]);
  });

  it.each([
    [undefined, []],
    [['0.0.0.0/0', '10.0.0.0/8'], []],
    [
      ['10.0.0.0/8', '1.2.3.4/32'],
      ['1.2.3.4/32', '10.0.0.0/8'],
    ],
    // Never "everybody" because all that was asked for can't be served.
    [['2001:db8::/32'], ['2001:db8::/32']],
    [['::/0'], ['::/0']],
  ])('source ranges %j become %j', (sourceRanges, expected) => {
    expect(renderOne(sourceRanges === undefined ? {} : { sourceRanges }).sourceRanges).toEqual(expected);
  });

  it('does not depend on the order of inputs or listeners', () => {
    const other = inputOf(specOf({ listeners: [WEB, DNS] }), '99999999-2222-3333-4444-555555555555');
    const turned = inputOf(specOf({ listeners: [DNS, WEB] }), '99999999-2222-3333-4444-555555555555');
    const one = inputOf(specOf());
    expect(hashJson(loadBalancers.render('s', [one, other]))).toBe(hashJson(loadBalancers.render('s', [turned, one])));
  });

  it('gives everyone a placement of its own, not shared with a successor of the same name', () => {
    const one = loadBalancers.defaultPlacement(inputOf(specOf(), '11111111-0000-0000-0000-000000000000'));
    const two = loadBalancers.defaultPlacement(inputOf(specOf(), '21111111-0000-0000-0000-000000000000'));
    expect(one).not.toBe(two);
  });
});

describe('the engine Passthrough', () => {
  const THROUGH = { local: { engine: 'Passthrough' as const } };

  it('needs no node ports: the targets’ port is the listener’s, and what is asked is the node port, else kube-proxy', () => {
    const listeners = [WEB, { name: 'bare', port: 81 }, DNS];
    expect(loadBalancers.validate(specOf({ ...THROUGH, listeners }))).toEqual([]);
    const rendered = renderOne({ ...THROUGH, listeners });
    expect(rendered.mode).toBe('passthrough');
    expect(
      rendered.listeners.map(({ port, nodePort, pool: { healthCheck } }) => [port, nodePort, healthCheck.protocol, healthCheck.port]),
    ).toEqual([
      [81, 81, 'HTTP', 10256],
      [53, 53, 'HTTP', 10256],
      [80, 80, 'TCP', 30080],
    ]);
    const local = renderOne({ ...THROUGH, healthCheck: { protocol: 'HTTP', port: 32000, path: '/healthz' } });
    expect(local.listeners[0]?.pool.healthCheck).toMatchObject({ protocol: 'HTTP', port: 32000 });
  });

  it('is told to Services as ipMode VIP, and a change of the engine replaces the load balancer', () => {
    const outputs = { uid: { mode: 'passthrough', addresses: ['10.208.0.2'], pools: [] } };
    expect(loadBalancers.results(outputs, 'uid')?.ingress).toEqual([{ ip: '10.208.0.2', ipMode: 'VIP' }]);
    expect(loadBalancers.replacement(inputOf(specOf()), inputOf(specOf(THROUGH)))).toEqual({
      why: 'the change of spec.local.engine from Node to Passthrough replaces the load balancer',
      gap: false,
    });
    expect(loadBalancers.validate(specOf({ local: { engine: 'Passthrough', proxyProtocol: 'V2' } }))).toMatchObject([
      { severity: 'Warning' },
    ]);
  });
});

describe('reading results', () => {
  it('gives the address with ipMode Proxy and a target group for each pool', () => {
    const outputs = { uid: { addresses: ['10.201.0.1'], pools: [{ id: 'pool-1', port: 30080 }] } };
    expect(loadBalancers.results(outputs, 'uid')).toEqual({
      ingress: [{ ip: '10.201.0.1', ipMode: 'Proxy' }],
      targetGroups: [{ id: 'pool-1', port: 30080 }],
    });
  });

  it.each([[{}], [{ uid: {} }], [{ uid: null }], [{ uid: 'x' }], [{ uid: { addresses: ['10.0.0.1'] } }]])(
    'finds nothing in %j',
    (outputs) => {
      expect(loadBalancers.results(outputs as never, 'uid')).toBeUndefined();
    },
  );
});

describe('validating load balancers', () => {
  const fieldsOf = (fields: Partial<CloudLoadBalancerSpecInput>) =>
    loadBalancers.validate(specOf(fields)).map(({ severity, field }) => `${severity} ${field}`);

  it('accepts what it can do', () => {
    expect(fieldsOf({ listeners: [WEB, DNS], sourceRanges: ['10.0.0.0/8'], addresses: ['127.20.0.9'] })).toEqual([]);
  });

  it.each<[string, Partial<CloudLoadBalancerSpecInput>, string[]]>([
    ['SCTP', { listeners: [{ ...WEB, protocol: 'SCTP' }] }, ['Error spec.listeners[0].protocol']],
    ['no node port', { listeners: [WEB, { name: 'b', port: 81 }] }, ['Error spec.listeners[1].nodePort']],
    ['IPv6 only', { ipFamilies: ['IPv6'], addresses: ['fd00::1'] }, []],
    ['both families', { ipFamilies: ['IPv6', 'IPv4'], addresses: ['127.20.0.1', 'fd00::1'] }, []],
    ['an address of another family', { addresses: ['fd00::1'] }, ['Error spec.addresses[0]']],
    ['two addresses', { addresses: ['127.20.0.1', '127.20.0.2'] }, ['Error spec.addresses[1]']],
    ['an IPv6 range', { sourceRanges: ['10.0.0.0/8', '::/0'] }, []],
    ['a path with a space', { healthCheck: { protocol: 'HTTP', path: '/a b' } }, ['Error spec.healthCheck.path']],
    ['an unchecked UDP listener', { listeners: [DNS], healthCheck: {} }, ['Warning spec.healthCheck.port']],
    [
      'a check longer than its interval',
      { healthCheck: { intervalSeconds: 1, timeoutSeconds: 2 } },
      ['Error spec.healthCheck.timeoutSeconds'],
    ],
    ['PROXY protocol without TCP', { listeners: [DNS], local: { proxyProtocol: 'V2' } }, ['Warning spec.local.proxyProtocol']],
    ['affinity', { sessionAffinity: { type: 'ClientIP' } }, []],
    ['a shared placement', { placement: { name: 'shared' } }, []],
  ])('names the field for %s', (_what, fields, expected) => {
    expect(fieldsOf(fields)).toEqual(expected);
  });

  it('says what to set for a missing node port', () => {
    const [problem] = loadBalancers.validate(specOf({ listeners: [{ name: 'web', port: 80 }] }));
    expect(problem?.message).toContain('allocateLoadBalancerNodePorts: true');
  });

  it('never throws, and renders what it accepts', () => {
    const listener = fc.record({
      name: fc.string({ minLength: 1 }),
      protocol: fc.constantFrom('TCP' as const, 'UDP' as const, 'SCTP' as const),
      port: fc.nat(70000),
      nodePort: fc.option(fc.nat(70000), { nil: undefined }),
    });
    const spec = fc.record({
      provider: fc.constant('local'),
      listeners: fc.array(listener),
      sourceRanges: fc.option(fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string())), { nil: undefined }),
      addresses: fc.option(fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string())), { nil: undefined }),
      scheme: fc.constantFrom('Public', 'Internal'),
      ipFamilies: fc.array(fc.constantFrom('IPv4', 'IPv6')),
      trafficPolicy: fc.constant('Cluster'),
    });
    fc.assert(
      fc.property(spec, (generated) => {
        const asSpec = generated as unknown as CloudLoadBalancerSpec;
        expect(Array.isArray(loadBalancers.validate(asSpec))).toBe(true);
        const once = loadBalancers.render('s', [inputOf(asSpec)]);
        expect(hashJson(loadBalancers.render('s', [inputOf(structuredClone(asSpec))]))).toBe(hashJson(once));
      }),
    );
  });
});
