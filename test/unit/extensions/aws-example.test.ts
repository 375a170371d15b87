import { runtime, type Output } from '@pulumi/pulumi';
import type { PublishedLoadBalancer, StackOutputs } from '../../../extensions';
import extension from '../../../examples/extension-aws';

type Registered = Record<string, { name: string; inputs: Record<string, unknown>; provider: string }[]>;

/** What the example registers for these load balancers, by type, and what it returns. */
async function run(loadBalancers: PublishedLoadBalancer[]): Promise<{ registered: Registered; outputs: Record<string, unknown> }> {
  const registered: Registered = {};
  await runtime.setMocks(
    {
      call: ({ inputs }) => inputs as object,
      newResource: ({ type, name, inputs, provider = '' }) => {
        const given = inputs as Record<string, unknown>;
        (registered[type] ??= []).push({ name, inputs: given, provider });
        return { id: `${name}-id`, state: { ...given, arn: `arn:aws:s3:::${String(given['bucket'])}` } };
      },
    },
    'cloud-operator',
    'lb-shop-web-extra',
  );
  const published = { stack: 'lb-shop-web', loadBalancers, outputs: {} } satisfies StackOutputs;
  const returned = Object.entries((await extension.extra?.(published)) ?? {});
  const resolve = async (value: unknown): Promise<unknown> => (value as Output<unknown> & { promise: () => Promise<unknown> }).promise();
  const outputs = Object.fromEntries(await Promise.all(returned.map(async ([key, value]) => [key, await resolve(value)] as const)));
  await runtime.disconnect();
  return { registered, outputs };
}

function published(name: string, ingress: PublishedLoadBalancer['ingress']): PublishedLoadBalancer {
  const spec = { provider: 'aws', scheme: 'Public', listeners: [{ name: 'web', port: 443, protocol: 'TCP' }] } as unknown;
  return { uid: `uid-${name}`, namespace: 'shop', name, spec: spec as PublishedLoadBalancer['spec'], ingress };
}

const HOST = 'k8s-web-0123456789.elb.eu-central-1.amazonaws.com';

test('each load balancer gets its name in DNS, and a bucket that only log delivery writes to', async () => {
  const { registered, outputs } = await run([
    published('web', [{ hostname: HOST }]),
    published('api', [{ ip: '203.0.113.7' }, { ip: '2001:db8::7' }]),
  ]);
  expect(registered['aws:route53/record:Record']?.map(({ inputs: { name, type, records } }) => [name, type, records])).toEqual([
    ['web.shop.apps.example.com', 'CNAME', [HOST]],
    ['api.shop.apps.example.com', 'A', ['203.0.113.7']],
    ['api.shop.apps.example.com', 'AAAA', ['2001:db8::7']],
  ]);
  expect(registered['aws:s3/bucket:Bucket']?.map(({ inputs }) => inputs['bucket'])).toEqual(['lb-logs-uid-web', 'lb-logs-uid-api']);
  const [policy] = registered['aws:s3/bucketPolicy:BucketPolicy'] ?? [];
  expect(policy?.inputs['policy']).toMatchObject({
    Statement: [{ Action: 's3:PutObject', Resource: 'arn:aws:s3:::lb-logs-uid-web/*' }, { Resource: 'arn:aws:s3:::lb-logs-uid-web' }],
  });
  const elsewhere = Object.values(registered).flat();
  const own = elsewhere.filter(({ name }) => name !== 'aws');
  expect(own.every(({ provider }) => provider.includes('pulumi:providers:aws::aws::'))).toBe(true);
  expect(outputs).toEqual({ 'shop/web': 'lb-logs-uid-web', 'shop/api': 'lb-logs-uid-api' });
});
