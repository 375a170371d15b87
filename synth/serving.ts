import { HEALTH_PORT, servesHttps, type Endpoint, type Settings } from './options';

/** Where the kubelet finds health: on the host's network at the Node's loopback, else at the Pod's own address, which is said by no host. */
export function healthEndpoint({ controllerManager, network }: Settings): Partial<Endpoint> & Pick<Endpoint, 'port'> {
  if (network === 'Pod') return { port: HEALTH_PORT };
  return controllerManager?.health ?? { host: '127.0.0.1', port: HEALTH_PORT };
}

/** As `run`: plain HTTP on the host's loopback, where only the Node's own kubelet asks, or HTTPS where others do too. */
export function servingArgs(settings: Settings): string[] {
  return servesHttps(settings) ? ['--port=-1', `--secure-port=${HEALTH_PORT}`] : [`--port=${HEALTH_PORT}`];
}
