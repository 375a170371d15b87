import type * as sdkTypes from '@aws-sdk/client-elastic-load-balancing';
import { AwsService, type AwsClientOptions, type Verb } from './aws-client';
import type { CallOptions } from '../../client-options';
import { chunks } from './chunks';
import { byHalvesOfBatches } from './halving';

type Sdk = typeof sdkTypes;
type Client = sdkTypes.ElasticLoadBalancingClient;

/** The most that one page gives. */
const PAGE_SIZE = 400;
/** The most load balancers whose tags one call tells. */
const TAGS_BATCH = 20;

/** A listener without what the SDK lets be absent. */
export type ClassicListener = sdkTypes.Listener;

/** The part of the API of Classic load balancers that is used here. They are known by name. Every method throws as AwsService. */
export class ClassicElb {
  private readonly service: AwsService<Sdk, Client>;

  constructor(options: AwsClientOptions) {
    this.service = new AwsService(
      {
        iamPrefix: 'elasticloadbalancing',
        load: () => import('@aws-sdk/client-elastic-load-balancing'),
        connect: (sdk, config) => new sdk.ElasticLoadBalancingClient(config),
        // both APIs are served by one host
        endpoint: ({ endpoints }) => endpoints?.ElasticLoadBalancing ?? endpoints?.ElasticLoadBalancingV2,
        signing: ({ endpoints, signing }) =>
          endpoints?.ElasticLoadBalancing === undefined ? signing?.ElasticLoadBalancingV2 : signing?.ElasticLoadBalancing,
      },
      options,
    );
  }

  get retryPolicy(): AwsService<Sdk, Client>['retryPolicy'] {
    return this.service.retryPolicy;
  }

  /** @param names absent = all; one that is gone fails the call */
  loadBalancers(names?: string[], options: CallOptions = {}): Promise<sdkTypes.LoadBalancerDescription[]> {
    const asked = names === undefined ? { PageSize: PAGE_SIZE } : { LoadBalancerNames: names };
    return this.service.pages(async (Marker) => {
      const { LoadBalancerDescriptions, NextMarker } = await this.service.call({
        ...options,
        verb: 'list',
        operation: 'DescribeLoadBalancers',
        send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.DescribeLoadBalancersCommand({ ...asked, Marker })), signal),
      });
      return { items: LoadBalancerDescriptions, next: NextMarker };
    });
  }

  /** Tags by name, in batches; one that is gone fails its batch. */
  async tags(names: readonly string[], options: CallOptions = {}): Promise<Map<string, sdkTypes.Tag[]>> {
    const found = new Map<string, sdkTypes.Tag[]>();
    for (const batch of chunks(names, TAGS_BATCH)) {
      const { TagDescriptions = [] } = await this.service.call({
        ...options,
        verb: 'list',
        operation: 'DescribeTags',
        send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.DescribeTagsCommand({ LoadBalancerNames: batch })), signal),
      });
      for (const name of batch) found.set(name, []);
      for (const { LoadBalancerName = '', Tags = [] } of TagDescriptions) found.set(LoadBalancerName, Tags);
    }
    return found;
  }

  /** The same of those that are there still: of a whole account's something goes at any time. */
  presentTags(names: readonly string[], options: CallOptions = {}): Promise<Map<string, sdkTypes.Tag[]>> {
    return byHalvesOfBatches(names, TAGS_BATCH, (some) => this.tags(some, options));
  }

  async attributes(name: string, options: CallOptions = {}): Promise<sdkTypes.LoadBalancerAttributes> {
    const { LoadBalancerAttributes = {} } = await this.service.call({
      ...options,
      verb: 'get',
      operation: 'DescribeLoadBalancerAttributes',
      send: (sdk, client, prepare, signal) =>
        client.send(prepare(new sdk.DescribeLoadBalancerAttributesCommand({ LoadBalancerName: name })), signal),
    });
    return LoadBalancerAttributes;
  }

  async policies(name: string, options: CallOptions = {}): Promise<sdkTypes.PolicyDescription[]> {
    const { PolicyDescriptions = [] } = await this.service.call({
      ...options,
      verb: 'list',
      operation: 'DescribeLoadBalancerPolicies',
      send: (sdk, client, prepare, signal) =>
        client.send(prepare(new sdk.DescribeLoadBalancerPoliciesCommand({ LoadBalancerName: name })), signal),
    });
    return PolicyDescriptions;
  }

  async createLoadBalancer(input: sdkTypes.CreateLoadBalancerCommandInput, options: CallOptions): Promise<void> {
    await this.write('create', 'CreateLoadBalancer', options, (sdk) => new sdk.CreateLoadBalancerCommand(input));
  }

  async deleteLoadBalancer(name: string, options: CallOptions): Promise<void> {
    await this.write('delete', 'DeleteLoadBalancer', options, (sdk) => new sdk.DeleteLoadBalancerCommand({ LoadBalancerName: name }));
  }

  async createListeners(input: sdkTypes.CreateLoadBalancerListenersCommandInput, options: CallOptions): Promise<void> {
    await this.write('update', 'CreateLoadBalancerListeners', options, (sdk) => new sdk.CreateLoadBalancerListenersCommand(input));
  }

  async deleteListeners(input: sdkTypes.DeleteLoadBalancerListenersCommandInput, options: CallOptions): Promise<void> {
    await this.write('update', 'DeleteLoadBalancerListeners', options, (sdk) => new sdk.DeleteLoadBalancerListenersCommand(input));
  }

  async setCertificate(input: sdkTypes.SetLoadBalancerListenerSSLCertificateCommandInput, options: CallOptions): Promise<void> {
    const make = (sdk: Sdk): object => new sdk.SetLoadBalancerListenerSSLCertificateCommand(input);
    await this.write('update', 'SetLoadBalancerListenerSSLCertificate', options, make);
  }

  async configureHealthCheck(input: sdkTypes.ConfigureHealthCheckCommandInput, options: CallOptions): Promise<void> {
    await this.write('update', 'ConfigureHealthCheck', options, (sdk) => new sdk.ConfigureHealthCheckCommand(input));
  }

  async modifyAttributes(input: sdkTypes.ModifyLoadBalancerAttributesCommandInput, options: CallOptions): Promise<void> {
    await this.write('update', 'ModifyLoadBalancerAttributes', options, (sdk) => new sdk.ModifyLoadBalancerAttributesCommand(input));
  }

  async setSecurityGroups(input: sdkTypes.ApplySecurityGroupsToLoadBalancerCommandInput, options: CallOptions): Promise<void> {
    const make = (sdk: Sdk): object => new sdk.ApplySecurityGroupsToLoadBalancerCommand(input);
    await this.write('update', 'ApplySecurityGroupsToLoadBalancer', options, make);
  }

  async attachSubnets(input: sdkTypes.AttachLoadBalancerToSubnetsCommandInput, options: CallOptions): Promise<void> {
    await this.write('update', 'AttachLoadBalancerToSubnets', options, (sdk) => new sdk.AttachLoadBalancerToSubnetsCommand(input));
  }

  async detachSubnets(input: sdkTypes.DetachLoadBalancerFromSubnetsCommandInput, options: CallOptions): Promise<void> {
    await this.write('update', 'DetachLoadBalancerFromSubnets', options, (sdk) => new sdk.DetachLoadBalancerFromSubnetsCommand(input));
  }

  async addTags(input: sdkTypes.AddTagsCommandInput, options: CallOptions): Promise<void> {
    await this.write('update', 'AddTags', options, (sdk) => new sdk.AddTagsCommand(input));
  }

  async removeTags(input: sdkTypes.RemoveTagsCommandInput, options: CallOptions): Promise<void> {
    await this.write('update', 'RemoveTags', options, (sdk) => new sdk.RemoveTagsCommand(input));
  }

  async createPolicy(input: sdkTypes.CreateLoadBalancerPolicyCommandInput, options: CallOptions): Promise<void> {
    await this.write('create', 'CreateLoadBalancerPolicy', options, (sdk) => new sdk.CreateLoadBalancerPolicyCommand(input));
  }

  async deletePolicy(input: sdkTypes.DeleteLoadBalancerPolicyCommandInput, options: CallOptions): Promise<void> {
    await this.write('delete', 'DeleteLoadBalancerPolicy', options, (sdk) => new sdk.DeleteLoadBalancerPolicyCommand(input));
  }

  async setBackendPolicies(input: sdkTypes.SetLoadBalancerPoliciesForBackendServerCommandInput, options: CallOptions): Promise<void> {
    const make = (sdk: Sdk): object => new sdk.SetLoadBalancerPoliciesForBackendServerCommand(input);
    await this.write('update', 'SetLoadBalancerPoliciesForBackendServer', options, make);
  }

  async setListenerPolicies(input: sdkTypes.SetLoadBalancerPoliciesOfListenerCommandInput, options: CallOptions): Promise<void> {
    const make = (sdk: Sdk): object => new sdk.SetLoadBalancerPoliciesOfListenerCommand(input);
    await this.write('update', 'SetLoadBalancerPoliciesOfListener', options, make);
  }

  async register(name: string, ids: readonly string[], options: CallOptions): Promise<void> {
    const input = { LoadBalancerName: name, Instances: ids.map((InstanceId) => ({ InstanceId })) };
    const make = (sdk: Sdk): object => new sdk.RegisterInstancesWithLoadBalancerCommand(input);
    await this.write('targets', 'RegisterInstancesWithLoadBalancer', options, make);
  }

  async deregister(name: string, ids: readonly string[], options: CallOptions): Promise<void> {
    const input = { LoadBalancerName: name, Instances: ids.map((InstanceId) => ({ InstanceId })) };
    const make = (sdk: Sdk): object => new sdk.DeregisterInstancesFromLoadBalancerCommand(input);
    await this.write('targets', 'DeregisterInstancesFromLoadBalancer', options, make);
  }

  forgetCredentials(): void {
    this.service.forgetCredentials();
  }

  close(): void {
    this.service.close();
  }

  /** A write whose answer says nothing that is needed: for the compiler all are of one kind. */
  private async write(verb: Verb, operation: string, options: CallOptions, make: (sdk: Sdk) => object): Promise<void> {
    await this.service.call<unknown>({
      ...options,
      verb,
      operation,
      send: (sdk, client, prepare, signal) => client.send(prepare(make(sdk)) as sdkTypes.AddTagsCommand, signal),
    });
  }
}
