import { azureProviderSettings } from '../../../crds';
import { LoadBalancerStacks } from '../../../operator/cloud/stack/load-balancer-stacks';
import { conflictsOf, type Claim, type Conflict } from '../../../operator/cloud/stack/port-conflicts';
import type { AzureInput } from '../../../providers/azure/load-balancers/arguments';
import { AzureLoadBalancers } from '../../../providers/azure/load-balancers/load-balancers';
import { publicIPNameOf } from '../../../providers/azure/load-balancers/names';
import { balancer, HTTP, HTTPS, SUBSCRIPTION } from './balancer-scene';

const IP = '20.0.0.1';
const settings = azureProviderSettings.parse({ subscriptionID: SUBSCRIPTION, resourceGroup: 'cluster', vnetName: 'net' });
const cloud = { cloud: { loadBalancers: new AzureLoadBalancers({ clusterID: 'c', location: 'westeurope', settings }) } } as never;
const kind = new LoadBalancerStacks({} as never, {} as never, {} as never, 'c');

/** Who has something in the cloud, with the address that it was given, and what it asks for now. */
interface Case {
  had?: AzureInput;
  at?: string[];
  wants: AzureInput;
}

/** Who is told what by whom, as a stack of these plans it. */
function conflicts(...cases: Case[]): Conflict[] {
  const claimants = cases.map(({ had, at = [], wants }, index) => {
    const outputs = { [wants.uid]: { addresses: at, targetGroups: [] } };
    const claims = (input: AzureInput): Claim[] => kind.claims(input, cloud, had && { input: had, outputs });
    const key = `${wants.namespace}/${wants.name}`;
    return { uid: wants.uid, key, createdAt: String(index), held: had === undefined ? [] : claims(had), wanted: claims(wants) };
  });
  return [...conflictsOf(claimants).values()];
}

const asking = (azure: object, ...listeners: object[]): AzureInput => balancer(2, { listeners }, azure);
const served: Case = { had: balancer(1), at: [IP], wants: balancer(1) };
const claim = `port 80/TCP of ${IP}`;

test('who asks for the address that was made for another one, and a port that this has there, is told whose it is', () => {
  expect(conflicts(served, { wants: asking({ ipv4Address: IP }, HTTP) })).toEqual([{ claim, incumbent: 'demo/web-1' }]);
  expect(conflicts(served, { wants: asking({ ipv4Address: IP }, HTTPS) })).toEqual([]);
  expect(conflicts(served, { wants: asking({ ipv4Address: IP }, { ...HTTP, protocol: 'UDP' }) })).toEqual([]);
});

test('also by the name of that address', () => {
  const ipv4Name = publicIPNameOf(balancer(1), 'kubernetes', 'IPv4');
  const [conflict] = conflicts(served, { wants: asking({ publicIP: { ipv4Name: ipv4Name.toUpperCase() } }, HTTP) });
  expect(conflict).toEqual({ claim: `port 80/TCP of public IP address ${ipv4Name.toLowerCase()}`, incumbent: 'demo/web-1' });
});

test('where one asks by name and the other one by number, as soon as the first is served', () => {
  const named = balancer(1, {}, { publicIP: { ipv4Name: 'web' } });
  expect(conflicts({ had: named, at: [IP], wants: named }, { wants: asking({ ipv4Address: IP }, HTTP) })).toHaveLength(1);
});

test('whose the address was first is told too, when it asks for a port that another one has there', () => {
  const other = asking({ ipv4Address: IP }, HTTPS);
  const more = balancer(1, { listeners: [HTTP, HTTPS] });
  expect(conflicts({ ...served, wants: more }, { had: other, at: [IP], wants: other })).toEqual([
    { claim: `port 443/TCP of ${IP}`, incumbent: 'demo/web-2' },
  ]);
});

test('who leaves an address for another one asks for nothing there any more', () => {
  const other = asking({ ipv4Address: IP }, HTTPS);
  const leaves = balancer(1, { listeners: [HTTP, HTTPS] }, { ipv4Address: '20.0.0.2' });
  expect(conflicts({ ...served, wants: leaves }, { had: other, at: [IP], wants: other })).toEqual([]);
});
