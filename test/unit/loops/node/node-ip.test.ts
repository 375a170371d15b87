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

  const ipv4 = fc.ipV4();
  const ipv6 = fc.ipV6().filter((text) => !text.includes('.') && !/^::ffff/i.test(text));
  const address = fc.record({ type: fc.constantFrom('InternalIP', 'ExternalIP', 'Hostname'), address: fc.oneof(ipv4, ipv6) });

  test('what it gives is a part of what the cloud gave, once each, and every type stays', () => {
    fc.assert(
      fc.property(fc.array(address, { minLength: 1, maxLength: 8 }), fc.nat(), (addresses, pick) => {
        const chosen = addresses[pick % addresses.length]!;
        const result = preferNodeIPs(addresses, chosen.address);
        expect(result[0]?.address).toBe(addresses.find(({ address: text }) => text === result[0]?.address)?.address);
        for (const entry of result) expect(addresses).toContainEqual(entry);
        expect(new Set(result.map(({ type }) => type))).toEqual(new Set(addresses.map(({ type }) => type)));
        expect(result.length).toBeLessThanOrEqual(addresses.length);
      }),
    );
  });

  test('filtering twice changes nothing more', () => {
    fc.assert(
      fc.property(fc.array(address, { minLength: 1, maxLength: 8 }), fc.nat(), (addresses, pick) => {
        const annotation = addresses[pick % addresses.length]!.address;
        const once = preferNodeIPs(addresses, annotation);
        expect(preferNodeIPs(once, annotation)).toEqual(once);
      }),
    );
  });
});
