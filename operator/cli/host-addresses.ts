import type { LoadBalancer } from '../../providers/local/api';
import { OperatorError } from '../base/errors';

/** Where a client on this machine reaches one listener of a load balancer. */
export interface HostAddress {
  /** namespace/name of the Service, as the cloud's tags say it; empty for a load balancer that nobody of ours made. */
  owner: string;
  listener: string;
  protocol: 'TCP' | 'UDP';
  /** Of the listener, as the Service has it. */
  port: number;
  /** `ip:port`; equal to the load balancer's own address only where this machine has a link to the cloud's network. */
  address: string;
}

/** Every listener that answers on this machine. Pure. */
export function hostAddresses(loadBalancers: readonly LoadBalancer[]): HostAddress[] {
  return loadBalancers.flatMap(({ tags, listeners, hostPorts }) =>
    listeners.flatMap(({ name, protocol, port, owner }) =>
      hostPorts
        .filter(({ listener }) => listener === name)
        .map((host) => ({ owner: owner ?? tags.owner ?? '', listener: name, protocol, port, address: `${host.ip}:${host.port}` })),
    ),
  );
}

/**
 * The address of one Service. Pure.
 * @param service `name` or `namespace/name`
 * @param port name or number of its port; absent = the first TCP port, else the first
 * @throws OperatorError NotFound when there is none, with those that there are
 */
export function hostAddressOf(all: readonly HostAddress[], service: string, port?: string): HostAddress {
  const owner = service.includes('/') ? service : `default/${service}`;
  const own = all.filter((address) => address.owner === owner);
  const found =
    port === undefined
      ? (own.find(({ protocol }) => protocol === 'TCP') ?? own[0])
      : own.find(({ listener, port: number }) => listener === port || String(number) === port);
  if (found !== undefined) return found;
  if (own.length === 0) {
    throw new OperatorError('NotFound', `the local cloud has no load balancer of the Service ${owner}`, {
      remedy: `see: kubectl get clb -A; there are ${list(all.map((address) => address.owner))}`,
    });
  }
  throw new OperatorError('NotFound', `${owner} has no port "${port}" in the cloud`, {
    remedy: `use ${list(own.map(({ listener }) => listener))}`,
  });
}

function list(names: string[]): string {
  return names.length === 0 ? 'none' : [...new Set(names)].join(', ');
}
