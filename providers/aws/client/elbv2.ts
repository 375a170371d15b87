import type * as sdkTypes from '@aws-sdk/client-elastic-load-balancing-v2';
import { OperatorError } from '../../../operator/base/errors';
import type { CallOptions } from '../../client-options';
import { ElbV2Reads } from './elbv2-reads';

/** The part of the ELBv2 API that is used here. Every method throws as AwsService. */
export class ElbV2 extends ElbV2Reads {
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

  /** Adds subnets; of a Network Load Balancer all that it has must be named as they are. */
  async setSubnets(input: sdkTypes.SetSubnetsCommandInput, options: CallOptions): Promise<void> {
    await this.service.call({
      ...options,
      verb: 'update',
      operation: 'SetSubnets',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.SetSubnetsCommand(input)), signal),
    });
  }

  async modifyCapacityReservation(input: sdkTypes.ModifyCapacityReservationCommandInput, options: CallOptions): Promise<void> {
    await this.service.call({
      ...options,
      verb: 'update',
      operation: 'ModifyCapacityReservation',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.ModifyCapacityReservationCommand(input)), signal),
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

  /** One that it has already is no error. */
  async addListenerCertificates(input: sdkTypes.AddListenerCertificatesCommandInput, options: CallOptions): Promise<void> {
    await this.service.call({
      ...options,
      verb: 'update',
      operation: 'AddListenerCertificates',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.AddListenerCertificatesCommand(input)), signal),
    });
  }

  async removeListenerCertificates(input: sdkTypes.RemoveListenerCertificatesCommandInput, options: CallOptions): Promise<void> {
    await this.service.call({
      ...options,
      verb: 'update',
      operation: 'RemoveListenerCertificates',
      send: (sdk, client, prepare, signal) => client.send(prepare(new sdk.RemoveListenerCertificatesCommand(input)), signal),
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

function only<T>(made: readonly T[], operation: string): T {
  const [first] = made;
  if (first === undefined)
    throw new OperatorError('Unknown', `AWS, elasticloadbalancing:${operation}: the answer names nothing that was made`);
  return first;
}
