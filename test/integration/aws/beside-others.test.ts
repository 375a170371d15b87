import { CLOUD_PROVIDERS } from '../../../crds';
import { systemClock } from '../../../operator/base/clock';
import type { AwsModel } from '../../harness/aws-model/aws-model';
import { refusal, type ModelAnswer, type ModelCall } from '../../harness/aws-model/call';
import type { Rule } from '../../harness/aws-model/rule';
import { throttling } from '../../harness/aws-model/rules/throttling';
import { describeWithMoto } from '../../harness/moto';
import { isSettled, type Scene, serviceOf } from '../operator/scene';
import type { MotoAccount } from './moto-account';
import { type AwsOperatorScene, NETWORK, withAwsScene } from './operator-scene';

const PREFIX = 'service.beta.kubernetes.io/aws-load-balancer-';
const SLOW_MS = 120_000;
const OTHERS = ['one', 'two', 'three'];

describeWithMoto('What goes wrong with one Service or route on AWS', () => {
  let aws: AwsOperatorScene;
  let account: MotoAccount;
  let model: AwsModel;
  let scene: Scene;
  let nodeName: string;

  /** Answers to the create of a Service’s load balancer, in place of AWS’s; one that waits is slow. */
  const answers = new Map<string, () => Promise<ModelAnswer | undefined> | ModelAnswer>();
  const told: Rule = {
    before(call) {
      const [, answer] = [...answers].find(([name]) => isFor(name, call)) ?? [];
      return answer?.();
    },
  };
  /** AWS’s limit of calls; absent = none. */
  let bucket: Rule | undefined;
  const limited: Rule = { before: (call, moto) => bucket?.before?.(call, moto) };

  withAwsScene(
    async (made) => {
      aws = made;
      ({ account, model, scene } = made);
      nodeName = (await aws.addNode()).name;
      await scene.initialized(nodeName);
    },
    [limited, told],
  );

  /** The tags say whose it is. */
  function isFor(name: string, { action, parameters }: ModelCall): boolean {
    return action === 'CreateLoadBalancer' && [...parameters.values()].includes(`default/${name}`);
  }

  /** Condition Ready of a Service, once it says so. */
  async function says(name: string, words: RegExp): Promise<string> {
    return scene.until(
      `Service ${name} to say ${words.source}`,
      async () => {
        const conditions = (await scene.service(name))?.status?.conditions ?? [];
        const { message = '' } = conditions.find(({ type, status }) => type === 'cloud-operator.dev/Ready' && status === 'False') ?? {};
        if (words.test(message)) return message;
        throw new Error(JSON.stringify(conditions));
      },
      SLOW_MS,
    );
  }

  /** Reason and message, as kubectl shows them. */
  async function shown(kind: 'cloudloadbalancer' | 'cloudroute', name: string, words: RegExp): Promise<string> {
    return scene.until(
      `kubectl to show ${words.source}`,
      async () => {
        const text = await aws.cluster.kubectl(['get', kind, name, '-o', 'wide', '--no-headers']);
        if (words.test(text)) return text;
        throw new Error(text);
      },
      SLOW_MS,
    );
  }

  interface Trouble {
    what: string;
    annotations?: Record<string, string>;
    begin: () => Promise<unknown>;
    end: () => Promise<unknown>;
    words: () => RegExp[];
  }

  const each = (work: (subnet: string) => Promise<unknown>): Promise<unknown> => Promise.all(account.subnetIDs.map(work));
  const FOREIGN = 'kubernetes.io/cluster/other';
  // Before other tests: for fifteen seconds the subnets of one load balancer serve the next one.
  const NOWHERE: Trouble[] = [
    {
      what: 'subnets that are tagged for another cluster',
      begin: () => each((subnet) => account.tag(subnet, FOREIGN, 'owned')),
      end: () => each((subnet) => account.untag(subnet, FOREIGN)),
      words: () => [
        /no subnet of the VPC can be used: each is tagged for another cluster/,
        /Tag one subnet of each zone with kubernetes\.io\/cluster\/prod/,
      ],
    },
    {
      what: 'a subnet that is not there',
      annotations: { [`${PREFIX}subnets`]: 'front' },
      begin: () => Promise.resolve(),
      end: () => each((subnet) => (subnet === account.subnetIDs[0] ? account.tag(subnet, 'Name', 'front') : Promise.resolve())),
      words: () => [/no subnet with the id or name "front" in the VPC/],
    },
  ];

  test.each(NOWHERE)(
    'a Service finds $what: kubectl shows why, and what to do; then it is made',
    async ({ annotations, begin, end, words }) => {
      await begin();
      await aws.cluster.apply(serviceOf('nowhere', { annotations: { ...NETWORK, ...annotations } }));
      const text = await shown('cloudloadbalancer', 'nowhere', words()[0]!);
      for (const word of words()) expect(text).toMatch(word);
      expect(text).toMatch(/ False +Invalid /);
      await says('nowhere', words()[0]!);
      expect(await account.loadBalancers()).toEqual([]);
      await end();
      await scene.askFor('nowhere');
      await scene.ready('nowhere', { timeoutMs: SLOW_MS });
      await scene.deleteServices('nowhere');
      expect(await account.content()).toEqual({ loadBalancers: 0, targetGroups: 0, securityGroups: 0 });
    },
    240_000,
  );

  test('one whose create is slow, one that AWS refuses, one that lacks a permission, and one without a subnet hold up no other', async () => {
    let release!: () => void;
    const held = new Promise<undefined>((resolve) => (release = () => resolve(undefined)));
    answers.set('slow', () => held);
    answers.set('failing', () => refusal('InternalFailure', 'told to fail', 500));
    answers.set('denied', () => refusal('AccessDenied', 'not authorized', 403));
    const missing = { [`${PREFIX}subnets`]: 'subnet-0123456789abcdef0' };
    try {
      await aws.cluster.apply(
        ...['slow', 'failing', 'denied'].map((name) => serviceOf(name, { annotations: NETWORK })),
        serviceOf('unplaced', { annotations: { ...NETWORK, ...missing } }),
        ...OTHERS.map((name) => serviceOf(name, { annotations: NETWORK })),
      );
      for (const name of OTHERS) await scene.ready(name, { timeoutMs: SLOW_MS });
      await says('failing', /InternalFailure|told to fail/);
      expect(await says('denied', /AccessDenied/)).toContain('elasticloadbalancing:CreateLoadBalancer');
      await says('unplaced', /subnet-0123456789abcdef0' does not exist\. Correct spec\.aws\.subnets/);
      expect((await account.loadBalancers()).length).toBe(OTHERS.length);
      // A change of one of the others comes through, too.
      const crossZone = `${PREFIX}cross-zone-load-balancing-enabled=true`;
      model.calls.length = 0;
      await aws.cluster.kubectl(['annotate', 'service', OTHERS[0]!, crossZone]);
      await scene.until(
        'the change',
        () => Promise.resolve(model.calls.some(({ action }) => action === 'ModifyLoadBalancerAttributes')),
        SLOW_MS,
      );
    } finally {
      answers.clear();
      release();
    }
    await aws.cluster.kubectl(['annotate', 'service', 'unplaced', `${PREFIX}subnets-`]);
    const all = ['slow', 'failing', 'denied', 'unplaced', ...OTHERS];
    for (const name of all) {
      await scene.askFor(name);
      await scene.ready(name, { timeoutMs: SLOW_MS });
    }
    expect((await account.loadBalancers()).length).toBe(all.length);
    await scene.deleteServices(...all);
    expect(await account.content()).toEqual({ loadBalancers: 0, targetGroups: 0, securityGroups: 0 });
  }, 400_000);

  test('calls that AWS throttles are told on the Service, and it is Ready through a narrow limit', async () => {
    bucket = throttling({ clock: systemClock, burst: 0, perSecond: 0 });
    try {
      await aws.cluster.apply(serviceOf('patient', { annotations: NETWORK }));
      await says('patient', /Throttling|RequestLimitExceeded/);
      expect(await shown('cloudloadbalancer', 'patient', / False +Throttled /)).toMatch(/Next try at/);
      bucket = throttling({ clock: systemClock, burst: 2, perSecond: 4 });
      await scene.ready('patient', { timeoutMs: SLOW_MS });
      expect(await aws.hostname('patient')).toMatch(/\.elb\./);
    } finally {
      bucket = undefined;
    }
    await scene.deleteServices('patient');
    expect(await account.content()).toEqual({ loadBalancers: 0, targetGroups: 0, securityGroups: 0 });
  }, 400_000);

  describe('a CloudRoute', () => {
    const CIDRS = { pods: '10.244.7.0/24', first: '10.244.6.0/24' };
    const tables: string[] = [];

    async function limit(routesPerTable: number | null): Promise<void> {
      await aws.cluster.kube.patch(CLOUD_PROVIDERS, 'aws', 'merge', { spec: { aws: { routesPerTable } } });
      await scene.until('that to be followed', async () => {
        const { metadata, status } = (await scene.provider('aws')) ?? {};
        return metadata !== undefined && status?.observedGeneration === metadata.generation;
      });
    }

    const apply = (name: keyof typeof CIDRS): Promise<void> => {
      const spec = { provider: 'aws', destinationCIDR: CIDRS[name], nodeName };
      return aws.cluster.apply({ apiVersion: 'cloud-operator.dev/v1alpha1', kind: 'CloudRoute', metadata: { name }, spec });
    };

    async function expectRouted(name: keyof typeof CIDRS): Promise<void> {
      await aws.cluster.kubectl(['annotate', 'cloudroute', name, '--overwrite', `cloud-operator.dev/reconcile=${performance.now()}`]);
      await scene.until(
        `CloudRoute ${name} to be Ready`,
        async () => {
          const route = await scene.route(name);
          if (route !== undefined && isSettled(route)) return true;
          throw new Error(JSON.stringify(route?.status));
        },
        SLOW_MS,
      );
      expect(await account.nextHop(tables[0] ?? '', CIDRS[name])).toMatch(/^eni-/);
    }

    async function remove(name: keyof typeof CIDRS): Promise<void> {
      await aws.cluster.kubectl(['delete', 'cloudroute', name, '--timeout=60s']);
      expect(await account.nextHop(tables[0] ?? '', CIDRS[name])).toBeUndefined();
    }

    const TROUBLES: Trouble[] = [
      {
        what: 'no table with the cluster’s tag',
        begin: () => Promise.resolve(),
        end: async () => void tables.push(await account.makeRouteTable('prod')),
        words: () => [/ False +Invalid /, /kubernetes\.io\/cluster\/prod/],
      },
      {
        what: 'two tables with the cluster’s tag',
        begin: async () => void tables.push(await account.makeRouteTable('prod')),
        end: () => account.deleteRouteTable(tables.pop() ?? ''),
        words: () => [/ False +Invalid /, ...tables.map((id) => new RegExp(id))],
      },
      {
        what: 'a table that is full',
        begin: async () => {
          await apply('first');
          await expectRouted('first');
          await limit(1);
        },
        end: async () => {
          await limit(null);
          await remove('first');
        },
        words: () => [/ False +QuotaExceeded /, new RegExp(`${tables[0]} has 1 of 1 IPv4 routes`)],
      },
    ];

    test.each(TROUBLES)(
      'finds $what: kubectl shows why; then the route is made',
      async ({ begin, end, words }) => {
        await begin();
        await apply('pods');
        const text = await shown('cloudroute', 'pods', words()[0]!);
        for (const word of words()) expect(text).toMatch(word);
        await end();
        await expectRouted('pods');
        await remove('pods');
      },
      240_000,
    );
  });
});
