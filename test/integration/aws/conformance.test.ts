import * as fc from 'fast-check';
import { awsLoadBalancer, cloudLoadBalancerSpec, cloudProviderSpec, cloudRouteSpec, type CloudLoadBalancerSpec } from '../../../crds';
import { awsProvider } from '../../../providers/aws';
import { Ec2 } from '../../../providers/aws/client/ec2';
import { ElbV2 } from '../../../providers/aws/client/elbv2';
import { TAG } from '../../../providers/aws/tags';
import { workerModule } from '../../../providers/aws/worker';
import type { DiscoveredResource } from '../../../providers/provider';
import { anyFields, listenersOf } from '../../harness/any-load-balancer';
import { AwsModel } from '../../harness/aws-model/aws-model';
import type { CallVerb } from '../../harness/aws-model/call';
import { describeWithMoto, startMoto } from '../../harness/moto';
import { describeProviderConformance, type ProviderUnderTest } from '../../harness/provider-conformance';
import { MotoAccount, REGION } from './moto-account';

const PREFIX = 'service.beta.kubernetes.io/aws-load-balancer-';

describeWithMoto('with moto', () => describeProviderConformance('AWS', start));

async function start(): Promise<ProviderUnderTest> {
  const moto = await startMoto();
  const model = new AwsModel(moto.url, REGION);
  await model.start();
  const account = new MotoAccount(moto.url);
  await account.prepare();
  await account.makeRouteTable('prod');
  const [ec2, elb] = [new Ec2(account.clientOptions()), new ElbV2(account.clientOptions())];
  const setTag = (resource: DiscoveredResource, Key: string, Value: string): Promise<void> =>
    resource.type.startsWith('aws:lb/')
      ? elb.addTags({ ResourceArns: [resource.id], Tags: [{ Key, Value }] }, {})
      : ec2.createTags([resource.id], [{ Key, Value }], {});
  return {
    module: {
      ...awsProvider,
      connect: (settings, context) => {
        const readSecret = (_name: string, keys: readonly string[]): Promise<string[]> => Promise.resolve(keys.map(() => 'test'));
        return awsProvider.connect(settings, { ...context, readSecret });
      },
    },
    worker: workerModule,
    settings: cloudProviderSpec.parse({
      region: REGION,
      aws: {
        vpcID: account.vpcID,
        clusterName: 'prod',
        subnetIDs: account.subnetIDs,
        credentialsSecretRef: { name: 'aws' },
        endpoints: ['EC2', 'ElasticLoadBalancingV2'].map((service) => ({ service, url: model.url })),
      },
    }),
    annotationPrefix: PREFIX,
    annotations: {
      good: { [`${PREFIX}type`]: 'nlb', [`${PREFIX}cross-zone-load-balancing-enabled`]: 'true' },
      bad: { [`${PREFIX}healthcheck-interval`]: 'often' },
    },
    acceptsBlock: (block) => awsLoadBalancer.safeParse(block).success,
    loadBalancer: (listeners) => cloudLoadBalancerSpec.parse({ provider: 'aws', aws: {}, listeners: listenersOf(listeners) }),
    changes: {
      inPlace: (spec) => ({
        ...spec,
        aws: { type: 'Network', crossZone: true, targetGroup: { deregistrationDelaySeconds: 30 }, healthCheck: { intervalSeconds: 15 } },
      }),
      replacing: (spec) => ({ ...spec, scheme: 'Internal' }),
    },
    exclusive: {
      of: (spec) => ({ ...spec, aws: { type: 'Network', eipAllocationIDs: ['eipalloc-0a', 'eipalloc-0b'] } }),
      names: ['eipalloc-0a', 'eipalloc-0b'],
    },
    anyLoadBalancer: anyLoadBalancer(),
    route: (destinationCIDR, { nodeName, providerID }) => cloudRouteSpec.parse({ provider: 'aws', destinationCIDR, nodeName, providerID }),
    // its listeners, the capacity kept for it, and the attributes of load balancer, target group and listener
    discoveryCallsEach: 5,
    makeInstances: (count, clusterID) => account.makeInstances(count, clusterID === undefined ? 'prod' : 'other'),
    control: {
      calls: () => {
        const writes = model.calls.filter(({ verb }) => verb !== 'list').length;
        return Promise.resolve({ writes, calls: model.calls.map(({ action }) => action) });
      },
      resetCalls: () => Promise.resolve(void (model.calls.length = 0)),
      loseAnswers: (verb: CallVerb, times) => Promise.resolve(void (model.lost = { verb, times })),
      failLists: () => Promise.resolve(void (model.failsLists = true)),
      healthy: () => Promise.resolve(void ([model.lost, model.failsLists] = [undefined, false])),
      tamper: (resource) => setTag(resource, TAG.owner, 'somebody/else'),
      disown: (resource) => setTag(resource, TAG.clusterID, 'somebody-else'),
      setTargets: async (id, targets, Port) => {
        const health = await elb.targetHealth(id);
        const Targets = health.map(({ Target }) => ({ Id: Target?.Id ?? '', Port }));
        if (Targets.length > 0) await elb.deregisterTargets({ TargetGroupArn: id, Targets }, {});
        const wanted = targets.map(({ providerID }) => ({ Id: providerID.split('/').at(-1) ?? '', Port }));
        await elb.registerTargets({ TargetGroupArn: id, Targets: wanted }, {});
      },
    },
    stop: async () => {
      [ec2, elb, account].forEach((client) => client.close());
      await model.stop();
      await moto.stop();
    },
  };
}

function anyLoadBalancer(): fc.Arbitrary<CloudLoadBalancerSpec> {
  return fc.record({
    provider: fc.constant('aws'),
    ...anyFields,
    aws: fc.record({
      type: fc.constantFrom('Network' as const, 'Classic' as const),
      subnets: fc.option(fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 3 }), { nil: undefined }),
      tcpUDPListeners: fc.boolean(),
    }),
  });
}
