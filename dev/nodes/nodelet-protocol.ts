/**
 * What a nodelet is asked over its unix socket: one request, one line of JSON; the answer is one line with the same id.
 * Requests on one connection are answered as they are done, not in order.
 */
export type NodeletRequest =
  /** The whole set of ports that the node serves; others are closed. */
  | { id: number; method: 'serve'; params: ServedPorts }
  /** An HTTP request from the node's pod to another pod; the result is the body of the answer. */
  | { id: number; method: 'fetchPod'; params: PodRequest };

export interface NodeletResponse {
  id: number;
  result?: unknown;
  error?: string;
}

export interface ServedPorts {
  ports: NodePort[];
  /** Ports that answer as kube-proxy's service health does: 200 while the node has local endpoints. */
  healthChecks: { port: number; localEndpoints: number }[];
  /** Ports of load balancers whose packets come as they are: kube-proxy takes them for the Service. */
  external?: ExternalPort[];
}

export interface ExternalPort {
  ip: string;
  port: number;
  protocol: 'TCP' | 'UDP';
}

export interface NodePort {
  port: number;
  protocol: 'TCP' | 'UDP';
}

export interface PodRequest {
  ip: string;
  port: number;
  timeoutMs: number;
}

/** What a NodePort or a pod answers to any HTTP request. */
export interface NodeAnswer {
  node: string;
  /** Address of the client as the node sees it; absent where the connection came through the userland router. */
  client?: string;
  port?: number;
}

/** Where kube-proxy says that the node serves. */
export const HEALTHZ_PORT = 10256;
/** Where each node's pod answers. */
export const POD_PORT = 8080;
