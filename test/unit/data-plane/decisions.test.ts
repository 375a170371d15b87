import { SourceRanges } from '../../../providers/local/cloud/data-plane/engine/source-ranges';
import { nextHealth, type HealthRecord } from '../../../providers/local/cloud/data-plane/engine/target';
import { listenOnFirst, portCandidates } from '../../../providers/local/cloud/data-plane/engine/host-port';
import { restartDelay } from '../../../providers/local/cloud/data-plane/supervised-process';
import { chooseTier, type Tier } from '../../../providers/local/cloud/data-plane/tier';

describe('health', () => {
  const check = { protocol: 'TCP' as const, intervalMs: 1, timeoutMs: 1, healthyThreshold: 2, unhealthyThreshold: 3 };
  const after = (start: HealthRecord, ...results: (string | undefined)[]) =>
    results.reduce((record, result) => nextHealth(record, result, check), start);
  const initial: HealthRecord = { state: 'initial', against: 0 };

  test('the first result decides', () => {
    expect(after(initial, undefined)).toEqual({ state: 'healthy', against: 0 });
    expect(after(initial, 'ECONNREFUSED')).toEqual({ state: 'unhealthy', against: 0, reason: 'ECONNREFUSED' });
  });

  test('later ones need the threshold, in a row', () => {
    expect(after(initial, undefined, 'x', 'x').state).toBe('healthy');
    expect(after(initial, undefined, 'x', 'x', 'x')).toEqual({ state: 'unhealthy', against: 0, reason: 'x' });
    expect(after(initial, undefined, 'x', 'x', undefined, 'x', 'x').state).toBe('healthy');
    expect(after(initial, 'x', undefined).state).toBe('unhealthy');
    expect(after(initial, 'x', undefined, undefined)).toEqual({ state: 'healthy', against: 0 });
    expect(after(initial, 'x', undefined, 'y', undefined).state).toBe('unhealthy');
  });

  test('a target that stays unhealthy shows the newest reason', () => {
    expect(after(initial, 'x', 'y').reason).toBe('y');
  });
});

describe('source ranges', () => {
  test.each([
    [[], '192.0.2.1', true],
    [['10.0.0.0/8'], '10.255.0.1', true],
    [['10.0.0.0/8'], '11.0.0.1', false],
    [['10.0.0.0/8'], '::ffff:10.0.0.1', true],
    [['10.0.0.0/8', '192.0.2.7/32'], '192.0.2.7', true],
    [['fd00::/8'], 'fd12::1', true],
    [['fd00::/8'], '10.0.0.1', false],
    [['0.0.0.0/0'], '203.0.113.1', true],
  ])('%j admits %s: %s', (ranges, address, expected) => {
    expect(new SourceRanges(ranges).admits(address)).toBe(expected);
  });

  test.each(['10.0.0.0/33', '10.0.0.0', '10.0.0/8', 'fd00::/129', 'x', '10.0.0.0/', '10.0.0.0/-1'])('"%s" is refused', (range) => {
    expect(() => new SourceRanges([range])).toThrow(`source range "${range}" is not a CIDR`);
  });
});

describe('ports on the host', () => {
  test('a port is offered as it is, then with an offset', () => {
    expect(portCandidates(80, true).slice(0, 3)).toEqual([80, 8080, 16080]);
    expect(portCandidates(80, false)).toEqual([80]);
    expect(Math.max(...portCandidates(65_535, true))).toBeLessThanOrEqual(65_535);
  });

  const refuse = (code: string) => Promise.reject(Object.assign(new Error(code), { code }));

  test('the first one that opens is taken', async () => {
    const listen = (port: number) => (port === 8080 ? Promise.resolve() : refuse('EACCES'));
    expect(await listenOnFirst('127.0.0.1', [80, 8080, 16080], listen)).toBe(8080);
  });

  test('a failure that no other port would cure ends the search', async () => {
    const tried: number[] = [];
    const listen = (port: number) => {
      tried.push(port);
      return refuse('EADDRNOTAVAIL');
    };
    await expect(listenOnFirst('192.0.2.1', [80, 8080], listen)).rejects.toThrow(
      'cannot listen on 192.0.2.1:80 (nor on 8080): EADDRNOTAVAIL',
    );
    expect(tried).toEqual([80]);
  });
});

describe('tier', () => {
  const only =
    (...tiers: Tier[]) =>
    (tier: Tier) =>
      tiers.includes(tier) ? undefined : `no ${tier} today`;

  test('auto takes the best that works and says why not a better one', () => {
    expect(chooseTier('auto', only('vpc-root', 'vpc-userns', 'loopback')).tier).toBe('vpc-root');
    expect(chooseTier('auto', only('vpc-userns', 'loopback'))).toEqual({
      tier: 'vpc-userns',
      reason: 'vpc-userns: network namespaces in a user namespace; not vpc-root: no vpc-root today',
    });
    const { tier, reason } = chooseTier('auto', only('loopback'));
    expect(tier).toBe('loopback');
    expect(reason).toMatch(/not vpc-root: no vpc-root today; not vpc-userns: no vpc-userns today$/);
    expect(reason).not.toContain('\n');
  });

  test('a tier that was asked for and does not work is an error that says why', () => {
    expect(() => chooseTier('vpc-root', only('loopback'))).toThrow('the tier vpc-root does not work here: no vpc-root today');
    expect(chooseTier('loopback', only('loopback')).tier).toBe('loopback');
  });
});

test('processes are started again at growing distances', () => {
  expect([1, 2, 3, 4, 5, 6, 60].map(restartDelay)).toEqual([200, 400, 800, 1600, 3200, 5000, 5000]);
});
