import type { JsonObject } from '../../../operator/base/json';
import type { ArmClient } from '../../../providers/azure/client/arm-client';
import { type AzureInput, balancerID, loadBalancerArguments, publicIPID } from '../../../providers/azure/load-balancers/arguments';
import { armBody } from '../../../providers/azure/resources/arm-body';
import type { ArmServer } from '../../harness/arm/arm-server';
import { clientOf, LOCATION, startScene } from '../../harness/arm/scene';
import { balancer, HTTP, HTTPS, NODES, place } from '../../unit/azure/balancer-scene';

const UDP = { name: 'dns', protocol: 'UDP', port: 53, nodePort: 30053 };
const DUAL = { ipFamilies: ['IPv4', 'IPv6'] };
const INTERNAL = { scheme: 'Internal' };

describe('what is made of load balancers is what Azure takes', () => {
  let server: ArmServer;
  let client: ArmClient;

  beforeEach(async () => {
    server = await startScene();
    client = clientOf(server);
  });

  afterEach(async () => {
    await client.close();
    await server.stop();
  });

  const rows: [string, AzureInput[]][] = [
    ['one', [balancer(1)]],
    ['several with the same ports', [balancer(1, { listeners: [HTTP, HTTPS] }), balancer(2, { listeners: [HTTP, HTTPS] }), balancer(3)]],
    ['two protocols on one port', [balancer(1, { listeners: [UDP, { ...HTTP, port: 53 }] })]],
    ['both families', [balancer(1, DUAL), balancer(2, DUAL)]],
    ['without floating IP', [balancer(1, {}, { floatingIP: false }), balancer(2)]],
    [
      'trafficPolicy Local',
      [balancer(1, { trafficPolicy: 'Local', healthCheck: { protocol: 'HTTP', port: 31000 }, listeners: [HTTP, UDP] })],
    ],
    [
      'internal ones',
      [balancer(1, INTERNAL), balancer(2, { ...INTERNAL, ...DUAL }), balancer(3, { ...INTERNAL, addresses: ['10.0.0.77'] })],
    ],
    ['all ports', [balancer(1, { ...INTERNAL, listeners: [HTTP, HTTPS] }, { allPorts: true })]],
    ['SCTP', [balancer(1, { ...INTERNAL, listeners: [{ name: 's', protocol: 'SCTP', port: 9, nodePort: 30009 }] })]],
    [
      'a long idle timeout and slow probes',
      [balancer(1, {}, { idleTimeoutMinutes: 100, probe: { intervalSeconds: 59, threshold: 2, protocol: 'HTTPS' } })],
    ],
    ['two generations of one', [balancer(1), { ...balancer(1), generation: 1 }]],
  ];

  test.each(rows)('%s', async (_name, inputs) => {
    const at = place();
    for (const input of inputs.filter(({ spec }) => spec.scheme === 'Public')) {
      for (const family of input.spec.ipFamilies) {
        const properties = { publicIPAddressVersion: family };
        await client.put(publicIPID(input, family, at), { location: LOCATION, sku: { name: 'Standard' }, properties });
      }
    }
    const body = armBody(JSON.parse(JSON.stringify(loadBalancerArguments(inputs, NODES, at))) as JsonObject);
    const made = await client.put<{ properties: JsonObject }>(balancerID(at), body);
    expect(made.properties.provisioningState).toBe('Succeeded');
    expect((made.properties.frontendIPConfigurations as JsonObject[]).length).toBeGreaterThan(0);
  });
});
