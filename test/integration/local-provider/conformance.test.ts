import * as fc from 'fast-check';
import {
  cloudLoadBalancerSpec,
  cloudProviderSpec,
  localLoadBalancer,
  type CloudLoadBalancerSpec,
  type CloudRouteSpec,
} from '../../../crds';
import type { Collection } from '../../../providers/local/api';
import { localProvider } from '../../../providers/local';
import { ANNOTATION_PREFIX } from '../../../providers/local/annotations';
import { instanceIDOf } from '../../../providers/local/provider-id';
import { workerModule } from '../../../providers/local/worker';
import type { DiscoveredResource, Target } from '../../../providers/provider';
import { anyListener, listenersOf } from '../../harness/any-load-balancer';
import { describeProviderConformance, type CloudControl, type ProviderUnderTest } from '../../harness/provider-conformance';
import { LocalCloudProcess } from './local-cloud-process';

const COLLECTIONS: Record<string, Collection> = {
  'local:index:Address': 'addresses',
  'local:index:TargetPool': 'pools',
  'local:index:LoadBalancer': 'loadbalancers',
  'local:index:Route': 'routes',
};

describeProviderConformance('the local cloud', async (): Promise<ProviderUnderTest> => {
  const cloud = await LocalCloudProcess.start();
  let machines = 0;
  return {
    module: localProvider,
    worker: workerModule,
    settings: cloudProviderSpec.parse({ local: { endpoint: cloud.endpoint, tokenFile: cloud.tokenFile } }),
    annotationPrefix: ANNOTATION_PREFIX,
    annotations: {
      good: {
        [`${ANNOTATION_PREFIX}engine`]: 'Node',
        [`${ANNOTATION_PREFIX}health-check-interval`]: '2s',
        [`${ANNOTATION_PREFIX}drain-seconds`]: '3',
        [`${ANNOTATION_PREFIX}idle-timeout`]: '1m',
        [`${ANNOTATION_PREFIX}proxy-protocol`]: 'true',
      },
      bad: {
        [`${ANNOTATION_PREFIX}engine`]: 'other',
        [`${ANNOTATION_PREFIX}health-check-interval`]: 'often',
        [`${ANNOTATION_PREFIX}drain-seconds`]: '1e3',
        [`${ANNOTATION_PREFIX}idle-timeout`]: '2h',
        [`${ANNOTATION_PREFIX}proxy-protocol`]: 'v3',
      },
    },
    acceptsBlock: (block) => localLoadBalancer.safeParse(block).success,
    loadBalancer: (listeners) => cloudLoadBalancerSpec.parse({ provider: 'local', local: {}, listeners: listenersOf(listeners) }),
    changes: {
      inPlace: (spec) => ({
        ...spec,
        sourceRanges: ['192.0.2.0/24', '10.0.0.0/8'],
        healthCheck: { protocol: 'HTTP', port: 32000, path: '/healthz' },
        sessionAffinity: { type: 'ClientIP', timeoutSeconds: 60 },
        trafficPolicy: 'Local',
        local: { drainSeconds: 9, idleTimeoutSeconds: 60, proxyProtocol: 'V1' },
      }),
      replacing: (spec) => ({ ...spec, scheme: 'Internal' }),
    },
    anyLoadBalancer: anyLoadBalancer(),
    route: (destinationCIDR, { nodeName, providerID }): CloudRouteSpec => ({ provider: 'local', destinationCIDR, nodeName, providerID }),
    makeInstances: async (count, clusterID) => {
      const targets: Target[] = [];
      for (let index = 0; index < count; index++) {
        const { name, providerID, addresses } = await cloud.createInstance(`machine-${++machines}`, clusterID);
        targets.push({ nodeName: name, providerID, addresses: addresses.map(({ ip }) => ip) });
      }
      return targets;
    },
    control: controlOf(cloud),
    stop: () => cloud.stop(),
  };
});

function controlOf(cloud: LocalCloudProcess): CloudControl {
  const patch = ({ type, id }: DiscoveredResource, fields: Record<string, unknown>) =>
    cloud.drift({ kind: 'patch', collection: COLLECTIONS[type]!, id, fields });
  return {
    calls: async () => {
      const { writes, calls } = await cloud.calls();
      const each = calls.flatMap(({ verb, collection, count }) => Array.from({ length: count }, () => `${verb} ${collection}`));
      return { writes, calls: each };
    },
    resetCalls: () => cloud.resetCalls(),
    loseAnswers: async (verb, times) => void (await cloud.faults({ match: { verb }, times, act: { loseResponse: true } })),
    failLists: async () => void (await cloud.faults({ match: { verb: 'list' }, act: { status: 403, code: 'Forbidden' } })),
    healthy: async () => void (await cloud.faults()),
    tamper: async (resource) => {
      if (resource.type === 'local:index:TargetPool') return patch(resource, { drainMs: 1 });
      if (resource.type === 'local:index:LoadBalancer') return patch(resource, { sourceRanges: ['198.51.100.0/24'] });
      const found = (await cloud.list(COLLECTIONS[resource.type]!)).find(({ id }) => id === resource.id);
      return patch(resource, { tags: { ...found!.tags, owner: 'somebody/else' } });
    },
    disown: (resource) => patch(resource, { tags: { owner: 'somebody/else' } }),
    setTargets: async (id, targets, port) => {
      const registered = targets.map(({ providerID }) => ({ instanceID: instanceIDOf(providerID)!, port }));
      await cloud.drift({ kind: 'setTargets', id, targets: registered });
    },
  };
}

function anyLoadBalancer(): fc.Arbitrary<CloudLoadBalancerSpec> {
  const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
  const port = fc.integer({ min: 1, max: 65_535 });
  const seconds = fc.integer({ min: 1, max: 3600 });
  const healthCheck = fc.record({
    protocol: fc.constant('HTTP' as const),
    port: optional(port),
    path: optional(fc.string().map((text) => `/${text}`)),
    intervalSeconds: optional(seconds),
    timeoutSeconds: optional(seconds),
    healthyThreshold: optional(fc.integer({ min: 1, max: 100 })),
  });
  const range = fc.oneof(fc.tuple(fc.ipV4(), fc.nat(32)), fc.tuple(fc.ipV6(), fc.nat(128))).map(([address, bits]) => `${address}/${bits}`);
  return fc
    .record({
      provider: fc.constant('local'),
      local: fc.constant({}),
      listeners: fc.uniqueArray(anyListener, { minLength: 1, maxLength: 8, selector: ({ protocol, port: at }) => `${protocol}/${at}` }),
      healthCheck: optional(healthCheck),
      sourceRanges: optional(fc.uniqueArray(range)),
      scheme: fc.constantFrom('Public', 'Internal'),
      ipFamilies: fc.uniqueArray(fc.constantFrom('IPv4', 'IPv6'), { minLength: 1 }),
      addresses: optional(fc.uniqueArray(fc.oneof(fc.ipV4(), fc.ipV6()))),
      trafficPolicy: fc.constantFrom('Cluster', 'Local'),
      sessionAffinity: optional(fc.record({ type: fc.constantFrom('None', 'ClientIP') })),
      placement: optional(fc.constant({ name: 'shared' })),
    })
    .map((fields) => cloudLoadBalancerSpec.safeParse(fields).data)
    .filter((spec) => spec !== undefined);
}
