import type { k8s } from 'cdk8s-plus-27';
import { HEALTH_PORT, servesHttps, workloadOf, type Endpoint, type Settings } from './options';

/** Where the kubelet finds health: on the host's network at the Node's loopback, else at the Pod's own address, which is said by no host. */
export function healthEndpoint({ controllerManager, network }: Settings): Partial<Endpoint> & Pick<Endpoint, 'port'> {
  if (network === 'Pod') return { port: HEALTH_PORT };
  return controllerManager?.health ?? { host: '127.0.0.1', port: HEALTH_PORT };
}

/** As `run`: plain HTTP on the host's loopback, where only the Node's own kubelet asks, or HTTPS where others do too. */
export function servingArgs(settings: Settings): string[] {
  return servesHttps(settings) ? ['--port=-1', `--secure-port=${HEALTH_PORT}`] : [`--port=${HEALTH_PORT}`];
}

/** Every port that a Pod of the operator listens on: of health, metrics and the page, and of webhooks where there are some. */
export function servedPorts(settings: Settings): { name: string; port: number }[] {
  const { webhooks } = settings;
  const ofWebhooks = webhooks === undefined ? [] : [{ name: 'webhooks', port: webhooks.port }];
  return [{ name: 'health', port: healthEndpoint(settings).port }, ...ofWebhooks];
}

/**
 * The ports that a Pod on the host's network takes from its Node, as the scheduler reads them (NodePorts): a second Pod waits for another Node
 * rather than being bound for ever to one where it can't listen. Nobody schedules a static Pod.
 */
export function hostPorts(settings: Settings): k8s.ContainerPort[] {
  if (settings.network !== 'Host' || workloadOf(settings) === 'StaticPod') return [];
  return servedPorts(settings).map(({ name, port }) => ({ name, containerPort: port, hostPort: port, protocol: 'TCP' }));
}
