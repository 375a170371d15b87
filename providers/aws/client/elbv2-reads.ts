import type * as sdkTypes from '@aws-sdk/client-elastic-load-balancing-v2';
import { AwsService, type AwsClientOptions } from './aws-client';
import type { CallOptions } from '../../client-options';
import { chunks } from './chunks';
import { GatheredTags } from './gathered-tags';
import { byHalvesOfBatches } from './halving';

type Sdk = typeof sdkTypes;

/** The most that one page gives. */
const PAGE_SIZE = 400;
/** The most resources whose tags one call tells. */
const TAGS_BATCH = 20;

/** What is asked of the ELBv2 API: Network Load Balancers, their listeners, target groups and members. Every method throws as AwsService. */
export class ElbV2Reads {
  protected readonly service: AwsService<Sdk, sdkTypes.ElasticLoadBalancingV2Client>;
  private readonly gathered: GatheredTags;

  constructor(options: AwsClientOptions) {
    this.service = new AwsService(
      {
        iamPrefix: 'elasticloadbalancing',
        load: () => import('@aws-sdk/client-elastic-load-balancing-v2'),
        connect: (sdk, config) => new sdk.ElasticLoadBalancingV2Client(config),
        endpoint: ({ endpoints }) => endpoints?.ElasticLoadBalancingV2,
        signing: ({ signing }) => signing?.ElasticLoadBalancingV2,
      },
      options,
    );
    this.gathered = new GatheredTags((arns, more) => this.tags(arns, more), this.retryPolicy.clock);
  }

  get retryPolicy(): AwsService<Sdk, sdkTypes.ElasticLoadBalancingV2Client>['retryPolicy'] {
    return this.service.retryPolicy;
  }

  loadBalancers(input: sdkTypes.DescribeLoadBalancersCommandInput = {}, options: CallOptions = {}): Promise<sdkTypes.LoadBalancer[]> {
    return this.service.pages(async (Marker) => {
      const { LoadBalancers, NextMarker } = await this.service.call({
        ...options,
        verb: 'list',
        operation: 'DescribeLoadBalancers',
        send: (sdk, client, prepare, signal) =>
          client.send(
            prepare(new sdk.DescribeLoadBalancersCommand({ ...input, ...pageSize(input.LoadBalancerArns ?? input.Names), Marker })),
            signal,
          ),
      });
      return { items: LoadBalancers, next: NextMarker };
    });
  }

  targetGroups(input: sdkTypes.DescribeTargetGroupsCommandInput = {}, options: CallOptions = {}): Promise<sdkTypes.TargetGroup[]> {
    return this.service.pages(async (Marker) => {
      const { TargetGroups, NextMarker } = await this.service.call({
        ...options,
        verb: 'list',
        operation: 'DescribeTargetGroups',
        send: (sdk, client, prepare, signal) =>
          client.send(
            prepare(new sdk.DescribeTargetGroupsCommand({ ...input, ...pageSize(input.TargetGroupArns ?? input.Names), Marker })),
            signal,
          ),
      });
      return { items: TargetGroups, next: NextMarker };
    });
  }

  listeners(input: sdkTypes.DescribeListenersCommandInput = {}, options: CallOptions = {}): Promise<sdkTypes.Listener[]> {
    return this.service.pages(async (Marker) => {
      const { Listeners, NextMarker } = await this.service.call({
        ...options,
        verb: 'list',
        operation: 'DescribeListeners',
        send: (sdk, client, prepare, signal) =>
          client.send(prepare(new sdk.DescribeListenersCommand({ ...input, ...pageSize(input.ListenerArns), Marker })), signal),
      });
      return { items: Listeners, next: NextMarker };
    });
  }

  /** Tags by ARN, in batches; one that is gone fails its batch. */
  async tags(arns: readonly string[], options: CallOptions = {}): Promise<Map<string, Record<string, string>>> {
    const found = new Map<string, Record<string, string>>();
    for (const batch of chunks(arns, TAGS_BATCH)) {
      const { TagDescriptions = [] } = await this.service.call({
        ...options,
        verb: 'list',
        operation: 'DescribeTags',
        send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.DescribeTagsCommand({ ResourceArns: batch })), signal),
      });
      for (const arn of batch) found.set(arn, {});
      for (const { ResourceArn = '', Tags = [] } of TagDescriptions) found.set(ResourceArn, tagsOf(Tags));
    }
    return found;
  }

  /** The same of those that are there still: of a whole account's something goes at any time. */
  presentTags(arns: readonly string[], options: CallOptions = {}): Promise<Map<string, Record<string, string>>> {
    return byHalvesOfBatches(arns, TAGS_BATCH, (some) => this.tags(some, options));
  }

  /** The tags of one, asked for in one call with others of the same moment; undefined = it is gone. */
  tagsOf(arn: string, options: CallOptions): Promise<Record<string, string> | undefined> {
    return this.gathered.of(arn, options);
  }

  /** The attributes of a load balancer, by AWS's names. */
  async loadBalancerAttributes(arn: string, options: CallOptions = {}): Promise<Record<string, string>> {
    const { Attributes = [] } = await this.service.call({
      ...options,
      verb: 'get',
      operation: 'DescribeLoadBalancerAttributes',
      send: (sdk, client, prepare, signal) =>
        client.send(prepare(new sdk.DescribeLoadBalancerAttributesCommand({ LoadBalancerArn: arn })), signal),
    });
    return tagsOf(Attributes);
  }

  /** The capacity that was asked to be kept for a load balancer, and how far AWS has come with it. */
  capacityReservation(arn: string, options: CallOptions = {}): Promise<sdkTypes.DescribeCapacityReservationCommandOutput> {
    return this.service.call({
      ...options,
      verb: 'get',
      operation: 'DescribeCapacityReservation',
      send: (sdk, client, prepare, signal) =>
        client.send(prepare(new sdk.DescribeCapacityReservationCommand({ LoadBalancerArn: arn })), signal),
    });
  }

  /** The attributes of a target group, by AWS's names. */
  async targetGroupAttributes(arn: string, options: CallOptions = {}): Promise<Record<string, string>> {
    const { Attributes = [] } = await this.service.call({
      ...options,
      verb: 'get',
      operation: 'DescribeTargetGroupAttributes',
      send: (sdk, client, prepare, signal) =>
        client.send(prepare(new sdk.DescribeTargetGroupAttributesCommand({ TargetGroupArn: arn })), signal),
    });
    return tagsOf(Attributes);
  }

  /** The attributes of a listener, by AWS's names. */
  async listenerAttributes(arn: string, options: CallOptions = {}): Promise<Record<string, string>> {
    const { Attributes = [] } = await this.service.call({
      ...options,
      verb: 'get',
      operation: 'DescribeListenerAttributes',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.DescribeListenerAttributesCommand({ ListenerArn: arn })), signal),
    });
    return tagsOf(Attributes);
  }

  /** How much the account may have in the region, by AWS's names, such as network-load-balancers. */
  async accountLimits(options: CallOptions = {}): Promise<Map<string, number>> {
    const limits = await this.service.pages(async (Marker) => {
      const { Limits, NextMarker } = await this.service.call({
        ...options,
        verb: 'list',
        operation: 'DescribeAccountLimits',
        send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.DescribeAccountLimitsCommand({ Marker })), signal),
      });
      return { items: Limits, next: NextMarker };
    });
    return new Map(limits.map(({ Name = '', Max }) => [Name, Number(Max)]));
  }

  /** ARNs of the certificates that a listener has beside its default one. */
  async listenerCertificates(arn: string, options: CallOptions = {}): Promise<string[]> {
    const found = await this.service.pages(async (Marker) => {
      const { Certificates, NextMarker } = await this.service.call({
        ...options,
        verb: 'list',
        operation: 'DescribeListenerCertificates',
        send: (sdk, client, prepare, signal) =>
          client.send(prepare(new sdk.DescribeListenerCertificatesCommand({ ListenerArn: arn, PageSize: PAGE_SIZE, Marker })), signal),
      });
      return { items: Certificates, next: NextMarker };
    });
    return found.filter(({ IsDefault }) => IsDefault !== true).map(({ CertificateArn = '' }) => CertificateArn);
  }

  /** Everything that is registered with a target group, also what is draining. */
  async targetHealth(targetGroupARN: string, options: CallOptions = {}): Promise<sdkTypes.TargetHealthDescription[]> {
    const { TargetHealthDescriptions = [] } = await this.service.call({
      ...options,
      verb: 'list',
      operation: 'DescribeTargetHealth',
      send: (sdk, client, prepare, signal) =>
        client.send(prepare(new sdk.DescribeTargetHealthCommand({ TargetGroupArn: targetGroupARN })), signal),
    });
    return TargetHealthDescriptions;
  }
}

/** A list by ids or names has no pages. */
function pageSize(asked: readonly string[] | undefined): { PageSize?: number } {
  return asked === undefined ? { PageSize: PAGE_SIZE } : {};
}

function tagsOf(pairs: readonly { Key?: string | undefined; Value?: string | undefined }[]): Record<string, string> {
  return Object.fromEntries(pairs.map(({ Key = '', Value = '' }) => [Key, Value]));
}
