import fc from 'fast-check';
import { formatCidr, parseAddress, parseCidr, touches } from '../../../operator/loops/cidr';

describe('addresses', () => {
  test.each([
    ['10.0.0.1', '10.0.0.1'],
    ['2600:1f14:1d4:d101::ba3d', '2600:1f14:1d4:d101:0:0:0:ba3d'],
    ['::1', '0:0:0:0:0:0:0:1'],
    ['FD00::A', 'fd00::a'],
    ['::ffff:10.1.1.1', '10.1.1.1'],
  ])('%s and %s are one address', (a, b) => {
    expect(parseAddress(a)).toBeDefined();
    expect(parseAddress(a)).toEqual(parseAddress(b));
  });

  test.each(['', 'x', '10.0.0', '10.0.0.256', '010.0.0.1', 'fe80::1%eth0', ' 10.0.0.1'])('"%s" is none', (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });

  test('every IPv6 address survives being compressed', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), { minLength: 8, maxLength: 8 }), (groups) => {
        const text = groups.map((group) => group.toString(16)).join(':');
        const cidr = parseCidr(`${text}/128`);
        if (cidr === undefined || cidr.family === 'IPv4') return;
        const short = formatCidr(cidr);
        expect(parseCidr(short)).toEqual(cidr);
        expect(short.length).toBeLessThanOrEqual(text.length + 4);
      }),
    );
  });
});

describe('blocks', () => {
  test.each([
    ['10.0.0.7/24', '10.0.0.0/24'],
    ['192.168.0.0/0', '0.0.0.0/0'],
    ['fd00:0:0:0:1::/64', 'fd00::/64'],
    ['2001:db8:0:0:1:0:0:1/128', '2001:db8::1:0:0:1/128'],
    ['::/0', '::/0'],
  ])('%s is written %s', (text, spelling) => {
    const cidr = parseCidr(text);
    expect(cidr && formatCidr(cidr)).toBe(spelling);
  });

  test.each(['10.0.0.1', '10.0.0.1/33', 'foo.bar', 'fd00::/129', '10.0.0.0/-1', '*', ''])('"%s" is none', (text) => {
    expect(parseCidr(text)).toBeUndefined();
  });

  test('families do not touch', () => {
    expect(touches(parseCidr('0.0.0.0/0')!, parseCidr('::/0')!)).toBe(false);
  });
});
