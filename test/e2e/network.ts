import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ProcessGuard } from '../../dev/cluster/process-guard';
import { Machine } from './machine';

/** Where the control plane and the tests are: outside the network of the nodes, as clients are. */
export const OUTSIDE = '192.168.77.2';
const GATEWAY_OUTSIDE = '192.168.77.1';
/** The tests take nodes' addresses for one /16. */
const GATEWAY = '172.30.0.1';
const PREFIX = 24;
/** Of all nodes; each has a /24 of it. */
export const CLUSTER_CIDR = '10.244.0.0/16';

/** The router between clients and nodes: the network that the local cloud works in. */
export class Network {
  private constructor(readonly router: Machine) {}

  /** Connects this process's own network namespace with that of the nodes. */
  static async start(guard: ProcessGuard, logs: string): Promise<Network> {
    const router = await Machine.start(guard, { name: 'router', log: join(logs, 'router.log') });
    await router.plug('outside', 'nodes');
    const ip = (...args: string[]) => promisify(execFile)('ip', args);
    await ip('address', 'add', `${OUTSIDE}/${PREFIX}`, 'dev', 'nodes');
    await ip('link', 'set', 'nodes', 'up');
    await ip('route', 'add', 'default', 'via', GATEWAY_OUTSIDE);
    await router.sh(`ip address add ${GATEWAY_OUTSIDE}/${PREFIX} dev outside; ip link set outside up
      ip link add nodes type bridge; ip address add ${GATEWAY}/${PREFIX} dev nodes; ip link set nodes up`);
    return new Network(router);
  }

  /** @param number from 1 on @returns its address */
  async connect(machine: Machine, number: number): Promise<string> {
    const address = `172.30.0.${10 + number}`;
    await machine.plug('eth0', machine.name, this.router);
    await this.router.sh(`ip link set ${machine.name} master nodes up`);
    await machine.sh(`ip address add ${address}/${PREFIX} dev eth0; ip link set eth0 up; ip route add default via ${GATEWAY}
      echo 1 > /proc/sys/net/ipv4/ip_forward`);
    return address;
  }
}
