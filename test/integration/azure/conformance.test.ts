import * as fc from 'fast-check';
import { azureLoadBalancer, cloudLoadBalancerSpec, cloudProviderSpec, type CloudLoadBalancerSpec } from '../../../crds';
import { azureProvider } from '../../../providers/azure';
import { providerIDOf } from '../../../providers/azure/nodes/provider-id';
import { TAG } from '../../../providers/azure/tags';
import { workerModule } from '../../../providers/azure/worker';
import type { DiscoveredResource, Target } from '../../../providers/provider';
import { anyFields, listenersOf } from '../../harness/any-load-balancer';
import { GROUP, LOCATION, networkID, OPERATOR, startScene, SUBSCRIPTION } from '../../harness/arm/scene';
import { SUBSCRIPTION_BUCKETS } from '../../harness/arm/throttle';
import { describeProviderConformance, type ProviderUnderTest } from '../../harness/provider-conformance';
import { seedMachine } from './machines';

const PREFIX = 'service.beta.kubernetes.io/azure-';
/** Each load balancer of the suite is a stack of its own, and so is on a load balancer of its own. */
const BALANCERS = Array.from({ length: 32 }, (_, index) => ({ name: `lb-${index}` }));
const OTHER_GROUP = 'other';

describeProviderConformance('Azure', start);

async function start(): Promise<ProviderUnderTest> {
  const server = await startScene({ resourceGroups: [GROUP, OTHER_GROUP] });
  // A machine that runs the suite fast enough is not throttled for it: calls that come again are counted, too.
  server.throttle.buckets = { ...SUBSCRIPTION_BUCKETS, reads: { size: 12_000, perSecond: 25 } };
  const securityGroup = networkID('networkSecurityGroups', 'sg');
  server.cloud.seed(securityGroup, { location: LOCATION, properties: { securityRules: [] } });
  const { tenantID: tenantId, clientID: aadClientId, secret: aadClientSecret } = OPERATOR;
  const azureJson = JSON.stringify({ tenantId, aadClientId, aadClientSecret });
  let serial = 0;
  let machines = 0;
  const setTag = ({ id }: DiscoveredResource, key: string, value: string): Promise<void> =>
    Promise.resolve(server.cloud.tamper(id, (resource) => void (resource.tags = { ...resource.tags, [key]: value })));
  return {
    module: {
      ...azureProvider,
      connect: async (settings, context) => {
        const cloud = await azureProvider.connect(settings, { ...context, readSecret: () => Promise.resolve([azureJson]) });
        await cloud.prepareUpdate?.();
        return cloud;
      },
    },
    worker: workerModule,
    settings: cloudProviderSpec.parse({
      region: LOCATION,
      azure: {
        subscriptionID: SUBSCRIPTION,
        resourceManagerEndpoint: server.url,
        resourceGroup: GROUP,
        vnetName: 'net',
        subnetName: 'nodes',
        securityGroupName: 'sg',
        loadBalancers: BALANCERS,
        credentials: { cloudConfigRef: { name: 'azure', key: 'azure.json' } },
      },
    }),
    annotationPrefix: PREFIX,
    annotations: {
      good: { [`${PREFIX}dns-label-name`]: 'web', [`${PREFIX}load-balancer-tcp-idle-timeout`]: '30' },
      bad: { [`${PREFIX}load-balancer-tcp-idle-timeout`]: 'long' },
    },
    acceptsBlock: (block) => azureLoadBalancer.safeParse(block).success,
    loadBalancer: (listeners) => {
      const configurations = [`lb-${serial++ % BALANCERS.length}`];
      return cloudLoadBalancerSpec.parse({ provider: 'azure', azure: { configurations }, listeners: listenersOf(listeners) });
    },
    changes: {
      inPlace: (spec) => ({
        ...spec,
        azure: azureLoadBalancer.parse({ ...spec.azure, idleTimeoutMinutes: 30, publicIP: { dnsLabel: `web-${serial}` } }),
      }),
      replacing: (spec) => ({
        ...spec,
        azure: azureLoadBalancer.parse({
          ...spec.azure,
          ...(spec.scheme === 'Public' ? { publicIP: { ipTags: { RoutingPreference: 'Internet' } } } : { subnetName: 'links' }),
        }),
      }),
    },
    replacesByGeneration: true,
    exclusive: {
      of: (spec) => ({ ...spec, scheme: 'Internal', azure: azureLoadBalancer.parse({ ...spec.azure, ipv4Address: '10.0.0.99' }) }),
      names: ['10.0.0.99'],
    },
    anyLoadBalancer: anyLoadBalancer(),
    // Machines, scale sets, interfaces, and what machines do.
    instanceLists: 4,
    isShared: (id) => /\/loadBalancers\//i.test(id),
    makeInstances: (count, clusterID) => {
      const made = Array.from({ length: count }, (): Target => {
        const node = { name: `node-${++machines}`, address: `10.0.0.${100 + machines}` };
        const id = seedMachine(server, node, clusterID === undefined ? GROUP : OTHER_GROUP);
        return { nodeName: node.name, providerID: providerIDOf(id), addresses: [node.address] };
      });
      return Promise.resolve(made);
    },
    control: {
      calls: () => {
        const writes = server.calls.filter(({ method }) => method !== 'GET').length;
        return Promise.resolve({ writes, calls: server.calls.map(({ method, path }) => `${method} ${path}`) });
      },
      resetCalls: () => Promise.resolve(void (server.calls.length = 0)),
      loseAnswers: (verb, times) => Promise.resolve(void (server.lost = { verb, times })),
      failLists: () => Promise.resolve(void (server.failsLists = true)),
      healthy: () => Promise.resolve(void ([server.lost, server.failsLists] = [undefined, false])),
      tamper: (resource) => setTag(resource, TAG.owner, 'somebody/else'),
      disown: (resource) => setTag(resource, TAG.clusterID, 'somebody-else'),
      setTargets: () => Promise.reject(new Error('Azure has no members path')),
    },
    stop: () => server.stop(),
  };
}

function anyLoadBalancer(): fc.Arbitrary<CloudLoadBalancerSpec> {
  const block = fc.record({
    configurations: fc.option(fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 3 }), { nil: undefined }),
    floatingIP: fc.option(fc.boolean(), { nil: undefined }),
    allPorts: fc.option(fc.boolean(), { nil: undefined }),
  });
  return fc.record({
    provider: fc.constant('azure'),
    ...anyFields,
    azure: block.map((given) => azureLoadBalancer.parse(JSON.parse(JSON.stringify(given)))),
  });
}
