import type * as sdkTypes from '@aws-sdk/client-elastic-load-balancing-v2';
import { OperatorError } from '../../../operator/base/errors';
import { AwsService, type AwsClientOptions } from './aws-client';
import type { CallOptions } from '../../client-options';
import { chunks } from './chunks';

type Sdk = typeof sdkTypes;

/** The most that one page gives. */
const PAGE_SIZE = 400;
/** The most resources whose tags one call tells. */
const TAGS_BATCH = 20;

/** The part of the ELBv2 API that is used here: Network Load Balancers, their listeners, target groups and members. Every method throws as AwsService. */
export class ElbV2 {
  private readonly service: AwsService<Sdk, sdkTypes.ElasticLoadBalancingV2Client>;

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
      for (const { ResourceArn = '', Tags = [] } of TagDescriptions) found.set(ResourceArn, tagsOf(Tags));
    }
    return found;
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

  async createLoadBalancer(input: sdkTypes.CreateLoadBalancerCommandInput, options: CallOptions): Promise<sdkTypes.LoadBalancer> {
    const { LoadBalancers = [] } = await this.service.call({
      ...options,
      verb: 'create',
      operation: 'CreateLoadBalancer',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.CreateLoadBalancerCommand(input)), signal),
    });
    return only(LoadBalancers, 'CreateLoadBalancer');
  }

  async createTargetGroup(input: sdkTypes.CreateTargetGroupCommandInput, options: CallOptions): Promise<sdkTypes.TargetGroup> {
    const { TargetGroups = [] } = await this.service.call({
      ...options,
      verb: 'create',
      operation: 'CreateTargetGroup',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.CreateTargetGroupCommand(input)), signal),
    });
    return only(TargetGroups, 'CreateTargetGroup');
  }

  async createListener(input: sdkTypes.CreateListenerCommandInput, options: CallOptions): Promise<sdkTypes.Listener> {
    const { Listeners = [] } = await this.service.call({
      ...options,
      verb: 'create',
      operation: 'CreateListener',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.CreateListenerCommand(input)), signal),
    });
    return only(Listeners, 'CreateListener');
  }

  async modifyLoadBalancerAttributes(input: sdkTypes.ModifyLoadBalancerAttributesCommandInput, options: CallOptions): Promise<void> {
    await this.service.call({
      ...options,
      verb: 'update',
      operation: 'ModifyLoadBalancerAttributes',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.ModifyLoadBalancerAttributesCommand(input)), signal),
    });
  }

  async setSecurityGroups(input: sdkTypes.SetSecurityGroupsCommandInput, options: CallOptions): Promise<void> {
    await this.service.call({
      ...options,
      verb: 'update',
      operation: 'SetSecurityGroups',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.SetSecurityGroupsCommand(input)), signal),
    });
  }

  async setIpAddressType(input: sdkTypes.SetIpAddressTypeCommandInput, options: CallOptions): Promise<void> {
    await this.service.call({
      ...options,
      verb: 'update',
      operation: 'SetIpAddressType',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.SetIpAddressTypeCommand(input)), signal),
    });
  }

  async modifyTargetGroup(input: sdkTypes.ModifyTargetGroupCommandInput, options: CallOptions): Promise<void> {
    await this.service.call({
      ...options,
      verb: 'update',
      operation: 'ModifyTargetGroup',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.ModifyTargetGroupCommand(input)), signal),
    });
  }

  async modifyTargetGroupAttributes(input: sdkTypes.ModifyTargetGroupAttributesCommandInput, options: CallOptions): Promise<void> {
    await this.service.call({
      ...options,
      verb: 'update',
      operation: 'ModifyTargetGroupAttributes',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.ModifyTargetGroupAttributesCommand(input)), signal),
    });
  }

  async modifyListener(input: sdkTypes.ModifyListenerCommandInput, options: CallOptions): Promise<void> {
    await this.service.call({
      ...options,
      verb: 'update',
      operation: 'ModifyListener',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.ModifyListenerCommand(input)), signal),
    });
  }

  async modifyListenerAttributes(input: sdkTypes.ModifyListenerAttributesCommandInput, options: CallOptions): Promise<void> {
    await this.service.call({
      ...options,
      verb: 'update',
      operation: 'ModifyListenerAttributes',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.ModifyListenerAttributesCommand(input)), signal),
    });
  }

  async addTags(input: sdkTypes.AddTagsCommandInput, options: CallOptions): Promise<void> {
    await this.service.call({
      ...options,
      verb: 'update',
      operation: 'AddTags',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.AddTagsCommand(input)), signal),
    });
  }

  async removeTags(input: sdkTypes.RemoveTagsCommandInput, options: CallOptions): Promise<void> {
    await this.service.call({
      ...options,
      verb: 'update',
      operation: 'RemoveTags',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.RemoveTagsCommand(input)), signal),
    });
  }

  async registerTargets(input: sdkTypes.RegisterTargetsCommandInput, options: CallOptions): Promise<void> {
    await this.service.call({
      ...options,
      verb: 'targets',
      operation: 'RegisterTargets',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.RegisterTargetsCommand(input)), signal),
    });
  }

  async deregisterTargets(input: sdkTypes.DeregisterTargetsCommandInput, options: CallOptions): Promise<void> {
    await this.service.call({
      ...options,
      verb: 'targets',
      operation: 'DeregisterTargets',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.DeregisterTargetsCommand(input)), signal),
    });
  }

  async deleteLoadBalancer(input: sdkTypes.DeleteLoadBalancerCommandInput, options: CallOptions): Promise<void> {
    await this.service.call({
      ...options,
      verb: 'delete',
      operation: 'DeleteLoadBalancer',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.DeleteLoadBalancerCommand(input)), signal),
    });
  }

  async deleteTargetGroup(input: sdkTypes.DeleteTargetGroupCommandInput, options: CallOptions): Promise<void> {
    await this.service.call({
      ...options,
      verb: 'delete',
      operation: 'DeleteTargetGroup',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.DeleteTargetGroupCommand(input)), signal),
    });
  }

  async deleteListener(input: sdkTypes.DeleteListenerCommandInput, options: CallOptions): Promise<void> {
    await this.service.call({
      ...options,
      verb: 'delete',
      operation: 'DeleteListener',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.DeleteListenerCommand(input)), signal),
    });
  }

  forgetCredentials(): void {
    this.service.forgetCredentials();
  }

  close(): void {
    this.service.close();
  }
}

/** A list by ids or names has no pages. */
function pageSize(asked: readonly string[] | undefined): { PageSize?: number } {
  return asked === undefined ? { PageSize: PAGE_SIZE } : {};
}

function tagsOf(pairs: readonly { Key?: string | undefined; Value?: string | undefined }[]): Record<string, string> {
  return Object.fromEntries(pairs.map(({ Key = '', Value = '' }) => [Key, Value]));
}

function only<T>(made: readonly T[], operation: string): T {
  const [first] = made;
  if (first === undefined)
    throw new OperatorError('Unknown', `AWS, elasticloadbalancing:${operation}: the answer names nothing that was made`);
  return first;
}
