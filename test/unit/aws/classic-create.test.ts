import { OperatorError } from '../../../operator/base/errors';
import { systemClock } from '../../../operator/base/clock';
import type { JsonObject } from '../../../operator/base/json';
import type { ClassicElb } from '../../../providers/aws/client/classic-elb';
import type { Api } from '../../../providers/aws/resources/description';
import { classicLoadBalancer, type ClassicLoadBalancerInputs } from '../../../providers/aws/resources/classic-load-balancer';
import { OwnedResource } from '../../../providers/aws/resources/owned-resource';
import { TAG } from '../../../providers/aws/tags';
import type { UpdateContext } from '../../../providers/worker-module';

const CONTEXT = { urn: 'urn:aweb', name: 'aweb', signal: new AbortController().signal };
const OF = { clusterID: 'c', stack: 's' };

const INPUTS: ClassicLoadBalancerInputs = {
  ...{ name: 'aweb', internal: false, subnets: ['subnet-0a'], securityGroups: ['sg-1'] },
  listeners: [{ instancePort: 30_080, instanceProtocol: 'tcp', lbPort: 80, lbProtocol: 'tcp' }],
  healthCheck: { target: 'TCP:30080', interval: 10, timeout: 5, healthyThreshold: 2, unhealthyThreshold: 6 },
  ...{ crossZoneLoadBalancing: false, idleTimeout: 60, connectionDraining: false, connectionDrainingTimeout: 300 },
  tags: { [TAG.clusterID]: OF.clusterID, [TAG.stack]: OF.stack, [TAG.resource]: 'aweb' },
};

/** As the engine gives them. */
const WANTED = INPUTS as unknown as JsonObject;

/** AWS whose answers are behind by so many calls, once something is there; each write is noted. */
function account({ listings = 0, tags: tagReads = 0, budgetMs = 5_000 }) {
  const writes: string[] = [];
  const behind = { listings, tagReads };
  const isMade = (): boolean => writes.includes('create');
  const gone = (): Promise<never> => Promise.reject(new OperatorError('NotFound', 'There is no ACTIVE Load Balancer named aweb'));
  const wrote = (what: string) => () => Promise.resolve(void writes.push(what));
  const [listener, description] = [
    { InstancePort: 30_080, InstanceProtocol: 'TCP', LoadBalancerPort: 80, Protocol: 'TCP' },
    { LoadBalancerName: 'aweb', DNSName: 'aweb.elb.example', CanonicalHostedZoneNameID: 'Z1', Scheme: 'internet-facing' },
  ];
  const classic = {
    loadBalancers: () =>
      !isMade() || behind.listings-- > 0
        ? gone()
        : Promise.resolve([
            {
              ...description,
              Subnets: INPUTS.subnets,
              SecurityGroups: INPUTS.securityGroups,
              ListenerDescriptions: [{ Listener: listener }],
            },
          ]),
    presentTags: () => {
      const tags = Object.entries(INPUTS.tags).map(([Key, Value]) => ({ Key, Value }));
      return Promise.resolve(new Map(behind.tagReads-- > 0 ? [] : [['aweb', tags]]));
    },
    attributes: () => Promise.resolve({}),
    createLoadBalancer: wrote('create'),
    configureHealthCheck: wrote('health check'),
    modifyAttributes: wrote('attributes'),
  } as unknown as ClassicElb;
  const retryPolicy = { clock: systemClock, random: () => 0, budgetMs };
  const clients = { classic, elb: { retryPolicy } } as unknown as Omit<Api, 'options'>;
  const update = { ...OF, assertValid: () => undefined } as unknown as UpdateContext;
  return { writes, resource: new OwnedResource(classicLoadBalancer, clients, update) };
}

test.each([
  ['at once', {}],
  ['once AWS lists it', { listings: 2 }],
  ['once its tags are there', { listings: 1, tags: 1 }],
])('the host name of one that is made is told: %s', async (_when, lag) => {
  const { resource, writes } = account(lag);
  expect(await resource.create(WANTED, CONTEXT)).toEqual({
    id: 'aweb',
    outputs: { ...INPUTS, dnsName: 'aweb.elb.example', zoneId: 'Z1' },
  });
  expect(writes.slice(0, 3)).toEqual(['create', 'health check', 'attributes']);
});

test('one that AWS never lists is no success', async () => {
  const { resource } = account({ listings: 1_000, budgetMs: 200 });
  await expect(resource.create(WANTED, CONTEXT)).rejects.toMatchObject({ code: 'Transient' });
});
