import { armFailure } from '../../../providers/azure/client/arm-error';
import { inShort } from '../../../providers/azure/client/resource-id';

const SUBSCRIPTION = '/subscriptions/11111111-2222-4333-8444-555555555555';
const NETWORK = `${SUBSCRIPTION}/resourceGroups/cluster/providers/Microsoft.Network`;
const BALANCER = `${NETWORK}/loadBalancers/kubernetes`;

describe('what Azure says', () => {
  test.each([
    [`${NETWORK}/publicIPAddresses/a`, '…/publicIPAddresses/a'],
    [`'${NETWORK.toUpperCase()}/publicIPAddresses/a'`, "'…/publicIPAddresses/a'"],
    [
      `${SUBSCRIPTION}/resourceGroups/other/providers/Microsoft.Network/publicIPAddresses/a`,
      '…/resourceGroups/other/providers/Microsoft.Network/publicIPAddresses/a',
    ],
    [`${SUBSCRIPTION}/providers/Microsoft.Authorization/policies/a`, '…/providers/Microsoft.Authorization/policies/a'],
    [
      '/subscriptions/other/resourceGroups/cluster/providers/Microsoft.Network/a/b',
      '/subscriptions/other/resourceGroups/cluster/providers/Microsoft.Network/a/b',
    ],
    ['no id at all', 'no id at all'],
  ])('%s, in short: %s', (text, short) => {
    expect(inShort(text, BALANCER)).toBe(short);
    expect(inShort(text, '')).toBe(text);
  });

  test('who has what was asked for is named, however long the ids before it are', () => {
    const frontend = `${BALANCER}/frontendIPConfigurations/a0123456789abcdef0123456789abcde`;
    const address = `${NETWORK}/publicIPAddresses/${'p'.repeat(80)}`;
    const holder = `${NETWORK}/loadBalancers/${'h'.repeat(80)}/frontendIPConfigurations/theirs`;
    const message = `Resource ${frontend} is referencing public IP address ${address} that is already allocated to resource ${holder}.`;
    const failure = armFailure({ code: 'PublicIPAddressInUse', message }, 400, { method: 'PUT', path: BALANCER });
    expect(failure.message).toContain(` to resource …/loadBalancers/${'h'.repeat(80)}/frontendIPConfigurations/theirs`);
  });

  test('of a line that is too long, beginning and end are told; remedies stand behind one full stop', () => {
    const message = `Resource 'a' was disallowed by policy. Policy identifiers: '${'x'.repeat(2_000)} no-public-addresses'.`;
    const failure = armFailure({ code: 'RequestDisallowedByPolicy', message }, 403, { method: 'PUT', path: BALANCER });
    expect(failure.message).toMatch(/disallowed by policy\. .* … x+ no-public-addresses'\. Exempt the resource/);
    expect(failure.message.length).toBeLessThan(1_400);
  });
});
