import type { Logger } from '../../operator/base/log';
import type { Instance } from '../../providers/local/api';
import { addressInCIDR } from '../../providers/local/cloud/data-plane/ip-range';
import { NodeletClient } from './nodelet-client';
import { POD_PORT, type ServedPorts } from './nodelet-protocol';

/** An instance of the local cloud with a nodelet on it, whether or not a Node stands for it. */
export class Machine {
  readonly nodelet: NodeletClient;
  /** True while its Node is kept: heartbeats are posted. */
  registered = false;
  ready = true;
  /** Of each Service, on this node. */
  localEndpoints = 1;

  /** @throws when the instance has no socket: the cloud runs no process on it */
  constructor(
    readonly name: string,
    readonly instance: Instance,
    private readonly logger: Logger,
  ) {
    if (instance.socket === undefined) throw new Error(`instance ${instance.id} has no socket; the local cloud's tier runs no processes`);
    this.nodelet = new NodeletClient(instance.socket, (error) => this.problem(error));
  }

  /** Where its pod answers. */
  get pod(): { ip: string; port: number } {
    return { ip: addressInCIDR(this.instance.podCIDRs[0] ?? '', 2), port: POD_PORT };
  }

  serve(ports: ServedPorts): void {
    this.nodelet.serve(ports).catch((error: Error) => this.problem(error));
  }

  private problem(error: Error): void {
    this.logger.warn({ node: this.name, error: error.message }, 'the node does not serve what it should');
  }
}
