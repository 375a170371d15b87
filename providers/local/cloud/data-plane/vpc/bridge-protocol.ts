import type { ClientAddress } from '../engine/listener';

/**
 * The way from the host into a VPC that has no link to it: a unix socket, which network namespaces share.
 * TCP: one connection for each client; after this line and the answer `ok` it is the client's own.
 * UDP: one connection for each listener, with a BridgedDatagram per line both ways.
 */
export interface BridgeHello {
  loadBalancerID: string;
  protocol: 'TCP' | 'UDP';
  /** Address and port of the listener inside the VPC. */
  ip: string;
  port: number;
  /** The client on the host; TCP only. */
  client?: ClientAddress;
}

export interface BridgedDatagram {
  client: ClientAddress;
  /** Base64. */
  data: string;
}

export const BRIDGE_ACCEPTED = 'ok\n';
/** Name of the socket in the cloud's folder of sockets. */
export const BRIDGE_SOCKET = 'bridge';
