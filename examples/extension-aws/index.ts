import { Provider } from '@pulumi/aws/provider.js';
import { Record as DnsRecord } from '@pulumi/aws/route53/record.js';
import { Bucket } from '@pulumi/aws/s3/bucket.js';
import { BucketLifecycleConfiguration } from '@pulumi/aws/s3/bucketLifecycleConfiguration.js';
import { BucketPolicy } from '@pulumi/aws/s3/bucketPolicy.js';
import { BucketPublicAccessBlock } from '@pulumi/aws/s3/bucketPublicAccessBlock.js';
import { interpolate, type Output } from '@pulumi/pulumi';
import { defineExtension, type PublishedLoadBalancer } from 'cloud-operator/extensions';

/** For AWS: every load balancer gets a name in DNS, and a bucket for the logs of who came to it. Yours to change: */
const ZONE = { id: 'Z0123456789EXAMPLE', name: 'apps.example.com' };
const REGION = 'eu-central-1';
const KEEP_LOGS_DAYS = 30;
/** In place of the CloudProvider's own credentials, which resources without a provider get: this role, which the operator's ServiceAccount may take, is for these resources alone. */
const ROLE = {
  roleArn: 'arn:aws:iam::123456789012:role/cloud-operator-extension',
  webIdentityTokenFile: '/var/run/secrets/eks.amazonaws.com/serviceaccount/token',
};

export default defineExtension({
  extra({ loadBalancers }) {
    const provider = new Provider('aws', { region: REGION, assumeRoleWithWebIdentity: ROLE });
    const buckets = loadBalancers.map((loadBalancer) => {
      nameInDns(loadBalancer, provider);
      return [`${loadBalancer.namespace}/${loadBalancer.name}`, bucketForLogs(loadBalancer, provider).bucket] as const;
    });
    return Object.fromEntries<Output<string>>(buckets);
  },
});

/** `web.shop.apps.example.com`, for Service `web` in namespace `shop`. */
function nameInDns({ namespace, name, ingress }: PublishedLoadBalancer, provider: Provider): void {
  const dns = `${name}.${namespace}.${ZONE.name}`;
  const common = { zoneId: ZONE.id, name: dns, ttl: 60 };
  const hosts = ingress.flatMap(({ hostname }) => hostname ?? []);
  const addresses = ingress.flatMap(({ ip }) => ip ?? []);
  const [ipv6, ipv4] = [addresses.filter((ip) => ip.includes(':')), addresses.filter((ip) => !ip.includes(':'))];
  const records = { CNAME: hosts.slice(0, 1), A: hosts.length > 0 ? [] : ipv4, AAAA: hosts.length > 0 ? [] : ipv6 };
  for (const [type, values] of Object.entries(records)) {
    if (values.length > 0) new DnsRecord(`${dns}-${type}`, { ...common, type, records: values }, { provider });
  }
}

/**
 * The stack comes after its load balancer, so logging can't be part of that one's first version: once the bucket is there, turn it on with the
 * Service's annotations service.beta.kubernetes.io/aws-load-balancer-access-log-{enabled,s3-bucket-name}.
 */
function bucketForLogs({ uid, namespace, name }: PublishedLoadBalancer, provider: Provider): Bucket {
  const options = { provider };
  const tags = { Service: `${namespace}/${name}` };
  const bucket = new Bucket(`logs-${namespace}-${name}`, { bucket: `lb-logs-${uid}`, forceDestroy: true, tags }, options);
  const of = { bucket: bucket.bucket };
  const all = { blockPublicAcls: true, blockPublicPolicy: true, ignorePublicAcls: true, restrictPublicBuckets: true };
  new BucketPublicAccessBlock(`logs-${namespace}-${name}`, { ...of, ...all }, options);
  const rule = { id: 'expire', status: 'Enabled', filter: {}, expiration: { days: KEEP_LOGS_DAYS } };
  new BucketLifecycleConfiguration(`logs-${namespace}-${name}`, { ...of, rules: [rule] }, options);
  const deliver = {
    Effect: 'Allow' as const,
    Principal: { Service: 'delivery.logs.amazonaws.com' },
    Action: 's3:PutObject',
    Resource: interpolate`${bucket.arn}/*`,
    Condition: { StringEquals: { 's3:x-amz-acl': 'bucket-owner-full-control' } },
  };
  const look = { Effect: 'Allow' as const, Principal: deliver.Principal, Action: 's3:GetBucketAcl', Resource: bucket.arn };
  new BucketPolicy(`logs-${namespace}-${name}`, { ...of, policy: { Version: '2012-10-17', Statement: [deliver, look] } }, options);
  return bucket;
}
