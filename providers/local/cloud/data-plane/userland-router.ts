import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Route } from '../../api';
import { contains } from './ip-range';
import { readFirstLine } from './first-line';

/** An instance as the router sees it. */
export interface Attachment {
  instanceID: string;
  podCIDRs: string[];
  /** Unix socket behind which all its pods are. */
  podSocket: string;
}

/** What a process writes as the first line of a connection to the router. */
export interface RouteRequest {
  /** The instance that asks. */
  from: string;
  sourceIP: string;
  ip: string;
  port: number;
}

export type Decision = { kind: 'Deliver'; podSocket: string } | { kind: 'NoRoute'; reason: string };

const LONGEST_REQUEST = 4096;

/**
 * Where a packet goes, by the route table alone: the way there and the way back must both exist, as with real packets.
 * Pods of one instance reach each other without a route.
 * Pure.
 */
export function decide(request: RouteRequest, routes: readonly Route[], attachments: readonly Attachment[]): Decision {
  const nextHop = (ip: string): string | undefined =>
    routes
      .filter((route) => route.routeState === 'active' && contains(route.destinationCIDR, ip))
      // The longest prefix wins.
      .sort((a, b) => Number(b.destinationCIDR.split('/')[1]) - Number(a.destinationCIDR.split('/')[1]))[0]?.instanceID;
  const owner = attachments.find((attachment) => attachment.podCIDRs.some((cidr) => contains(cidr, request.ip)));
  if (owner !== undefined && owner.instanceID === request.from) return { kind: 'Deliver', podSocket: owner.podSocket };
  const there = nextHop(request.ip);
  if (there === undefined) return { kind: 'NoRoute', reason: `no route to ${request.ip}` };
  if (owner === undefined || owner.instanceID !== there) return { kind: 'NoRoute', reason: `${there} has no pod ${request.ip}` };
  if (nextHop(request.sourceIP) !== request.from) return { kind: 'NoRoute', reason: `no route back to ${request.sourceIP}` };
  return { kind: 'Deliver', podSocket: owner.podSocket };
}

/**
 * Stands in for the kernel's routes where there are no namespaces. A process of an instance connects to the unix socket, writes a
 * RouteRequest as one line of JSON, and gets `ok` or `no route: <why>` as one line; after `ok` the connection leads to the pod.
 */
export class UserlandRouter {
  private routes = new Map<string, Route>();
  private readonly attachments = new Map<string, Attachment>();
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();

  constructor(readonly socketPath: string) {
    this.server = createServer({ allowHalfOpen: true }, (socket) => this.serve(socket));
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(this.socketPath, resolve);
    });
  }

  attach(attachment: Attachment): void {
    this.attachments.set(attachment.instanceID, attachment);
  }

  detach(instanceID: string): void {
    this.attachments.delete(instanceID);
  }

  /** The whole route table. */
  setRoutes(routes: Route[]): void {
    this.routes = new Map(routes.map((route) => [route.destinationCIDR, route]));
  }

  breakRoute(destinationCIDR: string): void {
    this.routes.delete(destinationCIDR);
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private serve(socket: Socket): void {
    this.watch(socket);
    readFirstLine(socket, LONGEST_REQUEST, (line) => this.route(socket, line ?? ''));
  }

  private route(socket: Socket, line: string): void {
    const request = parseRequest(line);
    if (request === undefined) return refuse(socket, 'the first line must be a route request in JSON');
    const decision = decide(request, [...this.routes.values()], [...this.attachments.values()]);
    if (decision.kind === 'NoRoute') return refuse(socket, decision.reason);
    const pod = connect({ path: decision.podSocket, allowHalfOpen: true });
    this.watch(pod);
    pod.once('connect', () => {
      socket.write('ok\n');
      socket.pipe(pod);
      pod.pipe(socket);
    });
    pod.on('close', (failed) =>
      pod.bytesRead === 0 && failed ? refuse(socket, `the pod ${request.ip} does not answer`) : socket.destroySoon(),
    );
    socket.on('close', () => pod.destroySoon());
  }

  private watch(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    // What follows an error is a close, and that is handled.
    socket.on('error', () => socket.destroy());
  }
}

function refuse(socket: Socket, reason: string): void {
  socket.end(`no route: ${reason}\n`, () => socket.destroy());
}

function parseRequest(line: string): RouteRequest | undefined {
  try {
    const request = JSON.parse(line) as RouteRequest;
    return typeof request.ip === 'string' && typeof request.sourceIP === 'string' ? request : undefined;
  } catch {
    return undefined;
  }
}
