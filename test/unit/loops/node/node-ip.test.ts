import fc from 'fast-check';
import { type NodeAddress, parseNodeIPs, preferNodeIPs } from '../../../../operator/loops/node/node-ip';

const internal = (address: string): NodeAddress => ({ type: 'InternalIP', address });
const external = (address: string): NodeAddress => ({ type: 'ExternalIP', address });
const HOSTNAME: NodeAddress = { type: 'Hostname', address: 'n1.example' };

describe('preferNodeIPs (contract 3.4)', () => {
  test.each<[string, string, NodeAddress[], NodeAddress[]]>([
    ['C-NODE-17 one of each', '10.1.1.1', [internal('10.1.1.1'), HOSTNAME], [internal('10.1.1.1'), HOSTNAME]],
    [
      'C-NODE-18 matches of two types',
      '55.55.55.55',
      [internal('44.44.44.44'), external('44.44.44.44'), internal('55.55.55.55'), external('55.55.55.55'), HOSTNAME],
      [internal('55.55.55.55'), external('55.55.55.55'), HOSTNAME],
    ],
    [
      'C-NODE-19 others of the type go',
      '10.1.1.1',
      [internal('10.1.1.1'), internal('10.2.2.2'), internal('10.3.3.3'), external('55.55.55.55'), HOSTNAME],
      [internal('10.1.1.1'), external('55.55.55.55'), HOSTNAME],
    ],
    [
      'C-NODE-20 the cloud’s spelling stays',
      '2600:1f14:1d4:d101::ba3d',
      [internal('10.1.1.1'), internal('2600:1f14:1d4:d101:0:0:0:ba3d'), HOSTNAME],
      [internal('2600:1f14:1d4:d101:0:0:0:ba3d'), HOSTNAME],
    ],
    [
      'C-NODE-21 dual-stack',
      '10.1.1.1,fc01:1234::5678',
      [internal('10.1.1.1'), internal('fc01:1234::5678'), HOSTNAME],
      [internal('10.1.1.1'), internal('fc01:1234::5678'), HOSTNAME],
    ],
    [
      'C-NODE-22 dual-stack, extras go',
      '10.1.1.1,fc01:1234::5678',
      [internal('10.1.1.1'), internal('10.1.1.2'), internal('fc01:1234::1234'), internal('fc01:1234::5678'), HOSTNAME],
      [internal('10.1.1.1'), internal('fc01:1234::5678'), HOSTNAME],
    ],
    [
      'C-NODE-23 IPv6 first',
      'fc01:1234::5678,10.1.1.1',
      [internal('10.1.1.1'), external('55.55.55.55'), internal('fc01:1234::5678'), external('2001:db1::1'), HOSTNAME],
      [internal('fc01:1234::5678'), internal('10.1.1.1'), external('55.55.55.55'), external('2001:db1::1'), HOSTNAME],
    ],
  ])('%s', (_name, annotation, addresses, wanted) => {
    expect(preferNodeIPs(addresses, annotation)).toEqual(wanted);
  });

  test('an address that the machine does not have', () => {
    expect(() => preferNodeIPs([internal('10.1.1.1')], '10.9.9.9')).toThrow(
      'failed to get node address from cloud provider that matches ip: 10.9.9.9',
    );
  });

  test.each([
    ['invalid-ip', 'could not parse "invalid-ip"'],
    ['10.1.1.1, fc01::1', 'could not parse " fc01::1"'],
    ['10.1.1.1,10.1.1.2', 'must contain either a single IP or a dual-stack pair of IPs'],
    ['10.1.1.1,fc01::1,fc01::2', 'must contain either a single IP or a dual-stack pair of IPs'],
    ['0.0.0.0,fc01::1', "dual-stack node IP cannot include '0.0.0.0' or '::'"],
    ['10.1.1.1,::', "dual-stack node IP cannot include '0.0.0.0' or '::'"],
  ])('%s is refused', (annotation, why) => {
    expect(() => parseNodeIPs(annotation)).toThrow(`failed to parse node IP "${annotation}": ${why}`);
  });

  /** Few addresses, so that they meet; the first of each is how the annotation spells it, the cloud may spell it otherwise. */
  const SPELLINGS = [['10.1.1.1', '::ffff:10.1.1.1'], ['10.1.1.2'], ['192.0.2.7']];
  const SPELLINGS6 = [['fc01::1', 'fc01:0:0:0:0:0:0:1', 'FC01::1'], ['2001:db8::5', '2001:db8:0::5'], ['fe80::9']];
  const machine = fc.array(
    fc.record({
      type: fc.constantFrom<string>('InternalIP', 'ExternalIP', 'Hostname', 'InternalDNS'),
      address: fc.constantFrom(...SPELLINGS.flat(), ...SPELLINGS6.flat(), 'n1.example'),
    }),
    { maxLength: 8 },
  );
  const [ipv4, ipv6] = [SPELLINGS, SPELLINGS6].map((all) => fc.constantFrom(...all.map(([one = '']) => one)));
  const nodeIPs = fc.oneof(fc.tuple(ipv4!), fc.tuple(ipv6!), fc.tuple(ipv4!, ipv6!), fc.tuple(ipv6!, ipv4!));
  /** The spelling of the annotation for an address of a machine. */
  const canonical = (address: string): string => [...SPELLINGS, ...SPELLINGS6].find((all) => all.includes(address))?.[0] ?? address;

  test('property: those asked for in their order, then all of the types that none of them has, in the cloud’s order', () => {
    fc.assert(
      fc.property(machine, nodeIPs, (addresses, ips) => {
        const missing = ips.find((ip) => addresses.every(({ address }) => canonical(address) !== ip));
        if (missing !== undefined) {
          const refusal = `failed to get node address from cloud provider that matches ip: ${missing}`;
          return expect(() => preferNodeIPs(addresses, ips.join())).toThrow(refusal);
        }
        const result = preferNodeIPs(addresses, ips.join());
        const rankOf = ({ address }: NodeAddress): number => (ips.indexOf(canonical(address)) + ips.length + 1) % (ips.length + 1);
        const isPreferred = ({ address }: NodeAddress): boolean => ips.includes(canonical(address));
        const types = new Set(result.filter(isPreferred).map(({ type }) => type));
        // Nothing is changed or made up, and nothing is dropped but what has another address of a matched type.
        expect(result.every((entry) => addresses.includes(entry))).toBe(true);
        expect(new Set(result).size).toBe(result.length);
        const dropped = addresses.filter((entry) => !result.includes(entry));
        expect(dropped.every((entry) => !isPreferred(entry) && types.has(entry.type))).toBe(true);
        expect(result.every((entry) => isPreferred(entry) || !types.has(entry.type))).toBe(true);
        // By the annotation's order, and within that by the cloud's.
        const places = result.map((entry) => rankOf(entry) * 100 + addresses.indexOf(entry));
        expect(places).toEqual([...places].sort((a, b) => a - b));
      }),
      { numRuns: 300 },
    );
  });

  test('property: filtering twice changes nothing more', () => {
    fc.assert(
      fc.property(machine, nodeIPs, (addresses, ips) => {
        fc.pre(ips.every((ip) => addresses.some(({ address }) => canonical(address) === ip)));
        const once = preferNodeIPs(addresses, ips.join());
        expect(preferNodeIPs(once, ips.join())).toEqual(once);
      }),
    );
  });

  test('property: any text is one address, a pair of both families, or refused with the text in the message', () => {
    const part = fc.oneof(fc.ipV4(), fc.ipV6(), fc.string({ maxLength: 6 }), fc.constantFrom('0.0.0.0', '::', ' 10.0.0.1', 'fe80::1%eth0'));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 3 }), (parts) => {
        const annotation = parts.join();
        let found: ReturnType<typeof parseNodeIPs>;
        try {
          found = parseNodeIPs(annotation);
        } catch (thrown) {
          expect((thrown as Error).message).toContain(`failed to parse node IP "${annotation}": `);
          return;
        }
        expect(found.map(({ text }) => text)).toEqual(annotation.split(','));
        expect([1, 2]).toContain(found.length);
        if (found.length === 2) expect(new Set(found.map(({ address }) => address.family)).size).toBe(2);
      }),
    );
  });
});
