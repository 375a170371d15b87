import { saysNoDevice } from '../../../providers/local/cloud/data-plane/vpc/commands';

test.each([
  ['ip link delete lc-1: Cannot find device "lc-1"', true],
  ['ip link delete lc-1: RTNETLINK answers: No such device', true],
  ['ip link delete lc-1: RTNETLINK answers: Operation not permitted', false],
])('a link that is gone: %s → %s', (message, gone) => expect(saysNoDevice(message)).toBe(gone));
