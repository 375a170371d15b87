import { SERVICES } from '../../../operator/kube/object';
import { partsIn } from '../../harness/arm/resource';
import { SUBSCRIPTION_BUCKETS, type Bucket } from '../../harness/arm/throttle';
import { LOCATION, networkID } from '../../harness/arm/scene';
import { OPERATOR_CLUSTER_START_MS } from '../../harness/operator-cluster';
import { addressOf, serviceOf } from '../operator/scene';
import { AzureScene, SECRET, SECURITY_GROUP } from './operator-scene';

const PREFIX = 'service.beta.kubernetes.io/azure-';
const INTERNAL = { [`${PREFIX}load-balancer-internal`]: 'true' };
const IDLE = `${PREFIX}load-balancer-tcp-idle-timeout`;
const PIP_WRITE = 'Microsoft.Network/publicIPAddresses/write';
/** Longer than a call is tried where nothing answers, on a busy machine. */
const SAID_MS = 60_000;
const MINUTE = 60_000;

/** Refuses everything, and asks to come again after as many seconds. */
function closed(retryAfter: number): Record<keyof typeof SUBSCRIPTION_BUCKETS, Bucket> {
  const bucket = { size: 0, perSecond: 1 / retryAfter };
  return { reads: bucket, writes: bucket, deletes: bucket };
}

describe('what keeps one Service of Azure from its load balancer is said there, concerns no other, and is over with its cause', () => {
  let azure: AzureScene;
  let operator: number;
  let before: unknown;

  beforeAll(async () => {
    azure = await AzureScene.start({ resourceGroups: ['cluster', 'other'] });
    // Less than an update wants to begin with: each asks for one.
    azure.arm.identity.lifetimeS = 600;
    await azure.addNode();
    await azure.cluster.apply(serviceOf('web'), serviceOf('inner', { annotations: INTERNAL }));
    await azure.scene.published('web');
    await azure.scene.published('inner');
    operator = azure.cluster.operatorPid;
  }, OPERATOR_CLUSTER_START_MS);
  afterAll(() => azure.stop());
  beforeEach(async () => {
    before = await ofWeb();
  });
  afterEach(async () => {
    const names = (await azure.scene.list(SERVICES)).map(({ metadata }) => metadata.name);
    const others = names.filter((name) => !['kubernetes', 'web', 'inner'].includes(name));
    if (others.length > 0) await azure.scene.deleteServices(...others);
    await ready('web', 'inner');
    expect(await ofWeb()).toEqual(before);
    expect(azure.cluster.operatorPid).toBe(operator);
  }, MINUTE);

  /** Address and frontend of the neighbour. */
  async function ofWeb(): Promise<unknown> {
    const service = await azure.scene.service('web');
    const name = `a${service?.metadata.uid.replaceAll('-', '').slice(0, 31)}`;
    const frontends = partsIn(azure.balancer(), 'frontendIPConfigurations').filter((part) => part.name === name);
    return { address: addressOf(service), frontends: frontends.map(({ id, properties }) => [id, properties.publicIPAddress]) };
  }

  const apply = (name: string, annotations: Record<string, string> = {}, options: object = {}): Promise<void> =>
    azure.cluster.apply(serviceOf(name, { annotations, ...options }));
  const ready = (...names: string[]): Promise<unknown> => Promise.all(names.map((name) => azure.scene.ready(name, { timeoutMs: 30_000 })));
  const saidOf = async (name: string) => {
    const conditions = (
      (await azure.scene.service(name))?.status as { conditions?: { type: string; status: string; reason: string; message: string }[] }
    )?.conditions;
    return conditions?.find(({ type }) => type === 'cloud-operator.dev/Ready');
  };
  /** The Service's own condition has the reason and all of the words. */
  const says = (name: string, reason: string, ...words: string[]): Promise<true> =>
    azure.scene.until(
      `Service ${name} to say ${reason}: ${words.join(', ')}`,
      async () => {
        const said = await saidOf(name);
        const has = said?.status === 'False' && said.reason === reason && words.every((word) => said.message.includes(word));
        if (!has) throw new Error(JSON.stringify(said));
        return true;
      },
      SAID_MS,
    );
  let minutes = 4;
  /** A change of the neighbour reaches Azure. */
  async function othersGoOn(): Promise<void> {
    const wanted = ++minutes;
    await azure.cluster.kubectl(['annotate', 'service', 'web', '--overwrite', `${IDLE}=${wanted}`]);
    const rules = () => partsIn(azure.balancer(), 'loadBalancingRules');
    await azure.scene.until('the change of web', () =>
      Promise.resolve(rules().some(({ properties }) => properties.idleTimeoutInMinutes === wanted)),
    );
    await ready('web', 'inner');
  }
  const remove = (name: string, annotation: string): Promise<unknown> =>
    azure.cluster.kubectl(['annotate', 'service', name, `${annotation}-`]);

  test(
    'annotations that can not be',
    async () => {
      const interval = `${PREFIX}load-balancer-health-probe-interval`;
      const ranges = `${PREFIX}allowed-ip-ranges`;
      await apply('slow', { [interval]: '60', [`${PREFIX}load-balancer-health-probe-num-of-probe`]: '2' });
      await apply('idle', { [IDLE]: '101' });
      await apply('twofold', { [ranges]: '198.51.100.0/24' }, { spec: { loadBalancerSourceRanges: ['203.0.113.0/24'] } });
      await says('slow', 'InvalidAnnotation', interval, '120 s');
      await says('idle', 'InvalidAnnotation', IDLE, '4 to 100');
      await says('twofold', 'Invalid', 'say both who may connect');
      await othersGoOn();
      await remove('slow', interval);
      await remove('idle', IDLE);
      await remove('twofold', ranges);
      await ready('slow', 'idle', 'twofold');
    },
    3 * MINUTE,
  );

  test(
    'a public address that is another’s',
    async () => {
      const theirs = networkID('loadBalancers', 'load-balancer-of-another-team');
      const pip = networkID('publicIPAddresses', 'pip-of-another-team');
      azure.arm.cloud.seed(pip, {
        location: LOCATION,
        sku: { name: 'Standard' },
        properties: { ipAddress: '20.9.9.9', publicIPAddressVersion: 'IPv4' },
      });
      const frontend = (name: string, publicIP: string) => ({ name, properties: { publicIPAddress: { id: publicIP } } });
      azure.arm.cloud.seed(theirs, {
        location: LOCATION,
        sku: { name: 'Standard' },
        properties: { frontendIPConfigurations: [frontend('frontend-of-another-team', pip)] },
      });
      await apply('taken', { [`${PREFIX}pip-name`]: 'pip-of-another-team' });
      await apply('double', { [`${PREFIX}load-balancer-ipv4`]: addressOf(await azure.scene.service('web')) ?? '' });
      await says('taken', 'Taken', 'PublicIPAddressInUse', 'pip-of-another-team', 'load-balancer-of-another-team');
      await says('double', 'PortConflict', 'port 80/TCP of', 'belongs to default/web');
      // The object that was made for another Service, by its name.
      const ofWeb = `kubernetes-a${(await azure.scene.service('web'))?.metadata.uid.replaceAll('-', '').slice(0, 31)}`;
      expect(azure.publicAddresses()).toContain(ofWeb);
      await apply('borrower', { [`${PREFIX}pip-name`]: ofWeb });
      await says('borrower', 'PortConflict', `port 80/TCP of public IP address ${ofWeb} belongs to default/web`);
      // One of another resource group, which nothing names.
      const far = networkID('publicIPAddresses', 'pip-far').replace('/cluster/', '/other/');
      const properties = { ipAddress: '20.9.9.8', publicIPAddressVersion: 'IPv4' };
      azure.arm.cloud.seed(far, { location: LOCATION, sku: { name: 'Standard' }, properties });
      await apply('far', { [`${PREFIX}pip-name`]: 'pip-far' });
      await says('far', 'Invalid', 'public IP address pip-far is not in resource group cluster', 'correct its name or resource group');
      await othersGoOn();
      await azure.cluster.kubectl(['annotate', 'service', 'far', `${PREFIX}load-balancer-resource-group=other`]);
      await ready('far');
      expect(addressOf(await azure.scene.service('far'))).toBe('20.9.9.8');
      await azure.scene.deleteServices('far', 'borrower');
      expect(azure.arm.cloud.find(far)?.tags).toBeUndefined();
      azure.arm.cloud.vanish(far);
      azure.arm.cloud.vanish(theirs);
      await azure.cluster.apply(
        serviceOf('double', {
          ports: [{ name: 'other', port: 81 }],
          annotations: { [`${PREFIX}load-balancer-ipv4`]: addressOf(await azure.scene.service('web')) ?? '' },
        }),
      );
      await ready('taken', 'double');
      await azure.scene.deleteServices('taken');
      azure.arm.cloud.vanish(pip);
    },
    3 * MINUTE,
  );

  test(
    'no room: in the subnet, and under the quota',
    async () => {
      const full = networkID('loadBalancers', 'full');
      const subnet = { id: networkID('virtualNetworks', 'net', 'subnets', 'small') };
      const used = ['10.0.1.4', '10.0.1.5', '10.0.1.6'].map((privateIPAddress, index) => ({
        name: `f${index}`,
        properties: { subnet, privateIPAddress },
      }));
      azure.arm.cloud.seed(full, { location: LOCATION, sku: { name: 'Standard' }, properties: { frontendIPConfigurations: used } });
      const { limits } = azure.arm.cloud;
      const limit = limits.publicAddresses;
      limits.publicAddresses = azure.publicAddresses().length;
      await apply('narrow', { ...INTERNAL, [`${PREFIX}load-balancer-internal-subnet`]: 'small' });
      await apply('more');
      await says('narrow', 'QuotaExceeded', 'SubnetIsFull', 'subnets/small', 'Name a subnet with free addresses');
      await says('more', 'QuotaExceeded', 'PublicIPCountLimitReached', 'ask for a higher limit');
      await othersGoOn();
      azure.arm.cloud.vanish(full);
      limits.publicAddresses = limit;
      await azure.scene.askFor('narrow');
      await azure.scene.askFor('more');
      await ready('narrow', 'more');
    },
    3 * MINUTE,
  );

  const RANGES = { spec: { loadBalancerSourceRanges: ['198.51.100.0/24', '203.0.113.0/24', '192.0.2.0/25'] } };
  test.each<[string, object, object, string]>([
    [
      'rules in the security group',
      { rulesPerSecurityGroup: 1 },
      RANGES,
      'the security group has no room: it would have 2 rules, and may have 1',
    ],
    [
      'sources in the security group',
      { addressesPerSecurityGroup: 3 },
      RANGES,
      'the security group has no room: it would have 4 sources in its rules, and may have 3',
    ],
    [
      'destinations in the security group',
      { addressesPerSecurityGroup: 1 },
      {},
      'the security group has no room: it would have 2 destinations in its rules, and may have 1',
    ],
    [
      'frontends of a load balancer',
      { frontendsPerLoadBalancer: 1 },
      {},
      'load balancer kubernetes has no room: it would have 2 frontends, and may have 1',
    ],
    [
      'rules of a load balancer',
      { rulesPerLoadBalancer: 2 },
      {
        ports: [
          { name: 'http', port: 80 },
          { name: 'https', port: 443 },
        ],
      },
      'load balancer kubernetes has no room: it would have 3 rules, and may have 2',
    ],
  ])(
    'no room for more %s: the one that is too many says so with the figures, before Azure is asked',
    async (_what, limits, options, figures) => {
      const setLimits = (wanted: object | null): Promise<unknown> =>
        azure.cluster.kubectl([
          'patch',
          'cloudprovider',
          'azure',
          '--type=merge',
          '-p',
          JSON.stringify({ spec: { azure: { limits: wanted } } }),
        ]);
      await setLimits(limits);
      await ready('web', 'inner');
      azure.forgetCalls();
      await apply('surplus', {}, options);
      await says('surplus', 'QuotaExceeded', figures);
      expect(azure.arm.calls.filter(({ status = 0 }) => status === 400)).toEqual([]);
      expect(azure.writes().filter((write) => !/publicIPAddresses/.test(write))).toEqual([]);
      await othersGoOn();
      await setLimits(null);
      await ready('surplus');
    },
    3 * MINUTE,
  );

  test(
    'what Azure does not allow: by a role, a policy, and a lock',
    async () => {
      const { forbidden, policies, locks } = azure.arm.cloud;
      policies.set('microsoft.network/publicipaddresses', 'no-public-addresses');
      await apply('denied');
      await says('denied', 'Invalid', 'RequestDisallowedByPolicy', 'no-public-addresses', 'Exempt the resource');
      await othersGoOn();
      policies.clear();
      forbidden.set('cluster', PIP_WRITE);
      await apply('unauthorized');
      await says('unauthorized', 'CredentialsRefused', 'AuthorizationFailed', PIP_WRITE, 'role');
      await azure.scene.askFor('denied');
      await says('denied', 'CredentialsRefused', 'AuthorizationFailed', PIP_WRITE, 'role');
      await othersGoOn();
      forbidden.clear();
      locks.set('cluster', 'ReadOnly');
      await apply('locked');
      await says('locked', 'CredentialsRefused', 'ScopeLocked', 'Remove the lock');
      await ready('web', 'inner');
      locks.clear();
      for (const name of ['denied', 'unauthorized', 'locked']) await azure.scene.askFor(name);
      await ready('denied', 'unauthorized', 'locked');
    },
    2 * MINUTE,
  );

  test(
    'a load balancer that may not be changed: the doors to what it does stay open, and are shut when it does that no more',
    async () => {
      const onPort = (port: number): Promise<void> => apply('moved', {}, { ports: [{ name: 'http', port }] });
      await onPort(81);
      await ready('moved');
      const address = await azure.scene.published('moved');
      expect(azure.portsOf(address)).toEqual(['81']);
      azure.arm.cloud.policies.set('microsoft.network/loadbalancers', 'no-changes');
      await onPort(82);
      await says('moved', 'CredentialsRefused', 'RequestDisallowedByPolicy', 'no-changes');
      expect(azure.portsOf(address)).toEqual(['81', '82']);
      azure.arm.cloud.policies.clear();
      await azure.scene.askFor('moved');
      await ready('moved');
      expect(azure.portsOf(address)).toEqual(['82']);
    },
    2 * MINUTE,
  );

  test(
    'a secret that has expired, before and after the tokens that were made of it have',
    async () => {
      const says7000222 = ['AADSTS7000222', 'The client secret has expired: make a new one'];
      const { identity } = azure.arm;
      // Less than an update wants to begin with: each asks for another one.
      identity.lifetimeS = 600;
      identity.revoke();
      await apply('old');
      await ready('old');
      identity.expired.add(SECRET);
      await apply('new');
      await says('new', 'CredentialsRefused', ...says7000222);
      azure.renewSecret('second-secret');
      await ready('new');

      identity.lifetimeS = 3600;
      await apply('more');
      await ready('more');
      identity.expired.add('second-secret');
      identity.revoke();
      await apply('newer');
      await says('newer', 'CredentialsRefused', ...says7000222);
      azure.renewSecret('third-secret');
      await ready('newer');
    },
    3 * MINUTE,
  );

  test(
    'Azure can not be reached',
    async () => {
      const port = Number(new URL(azure.arm.url).port);
      await azure.arm.stop();
      await apply('new');
      await says('new', 'CloudUnavailable', 'ECONNREFUSED', 'Check the way to http://127.0.0.1').finally(() => azure.arm.start(port));
      await ready('new');
    },
    3 * MINUTE,
  );

  test(
    'too many calls, by far',
    async () => {
      azure.arm.throttle.buckets = closed(21);
      await apply('new');
      await says('new', 'Throttled', 'SubscriptionRequestsThrottled');
      azure.arm.throttle.buckets = SUBSCRIPTION_BUCKETS;
      await ready('new');
    },
    3 * MINUTE,
  );

  test(
    'what others do just before we write: they change the load balancer, or delete it, an address or the security group',
    async () => {
      const balancer = networkID('loadBalancers', 'kubernetes');
      const before = (id: string, times: number, act: () => void): void => {
        let left = times;
        azure.arm.meanwhile = ({ method, path }) => {
          if (method === 'PUT' && path === id && left-- > 0) act();
        };
      };
      const known = azure.publicAddresses();
      before(balancer, 4, () => azure.arm.cloud.tamper(balancer, ({ properties }) => (properties.theirs = 'kept')));
      await apply('contested');
      await ready('contested');
      expect(azure.balancer()?.properties.theirs).toBe('kept');
      const told = (await azure.scene.events('CloudLoadBalancer', 'contested')).filter(({ reason }) => reason === 'WrittenByOthers');
      expect(told.map(({ message }) => message)).toEqual([
        expect.stringContaining(`Somebody else has written ${balancer} at the same time`),
      ]);

      before(balancer, 1, () =>
        azure.arm.cloud.vanish(
          networkID(
            'publicIPAddresses',
            azure
              .publicAddresses()
              .find((name) => !known.includes(name) && !azure.arm.cloud.usersOf(networkID('publicIPAddresses', name)).length) ?? '',
          ),
        ),
      );
      await apply('robbed');
      await ready('robbed');
      expect(azure.publicAddresses()).toHaveLength(known.length + 2);

      before(balancer, 1, () => azure.arm.cloud.vanish(balancer));
      await apply('bare');
      await ready('web', 'contested', 'robbed', 'bare');
      expect(partsIn(azure.balancer(), 'frontendIPConfigurations')).toHaveLength(4);

      before(SECURITY_GROUP, 1, () => azure.arm.cloud.vanish(SECURITY_GROUP));
      await apply('open');
      await says('open', 'NotFound', 'networkSecurityGroups/sg', 'Make it, or correct its name');
      azure.arm.cloud.seed(SECURITY_GROUP, { location: LOCATION, properties: { securityRules: [] } });
      await ready('open');
      expect(azure.letInTo()).toHaveLength(5);
    },
    3 * MINUTE,
  );
});
