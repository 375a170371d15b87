import { BlockList, isIP } from 'node:net';
import { OperatorError } from '../../../../../operator/base/errors';

/** Which clients a load balancer answers; an empty list admits everybody. */
export class SourceRanges {
  private readonly list = new BlockList();
  private readonly open: boolean;

  /**
   * @param cidrs for example `10.0.0.0/8` or `fd00::/8`
   * @throws OperatorError Invalid when one of them is not a CIDR
   */
  constructor(cidrs: readonly string[]) {
    this.open = cidrs.length === 0;
    for (const cidr of cidrs) this.add(cidr);
  }

  /** `address` may be an IPv4 address in IPv6 notation, as dual-stack sockets report it. */
  admits(address: string): boolean {
    if (this.open) return true;
    const plain = address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address;
    return this.list.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
  }

  private add(cidr: string): void {
    const [ip = '', bits = ''] = cidr.split('/');
    const family = isIP(ip);
    const prefix = /^[0-9]+$/.test(bits) ? Number(bits) : NaN;
    if (family === 0 || !(prefix <= (family === 4 ? 32 : 128))) {
      throw new OperatorError('Invalid', `source range "${cidr}" is not a CIDR; write for example 10.0.0.0/8`, { field: 'sourceRanges' });
    }
    this.list.addSubnet(ip, prefix, family === 4 ? 'ipv4' : 'ipv6');
  }
}
