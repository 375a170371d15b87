import { cloudConfigPod } from './cloud-config';
import { controllerManagerPod } from './controller-manager';
import { extensionPod } from './extension';
import { servesHttps, workloadOf, type Settings } from './options';
import { servingArgs } from './serving';
import { staticPodAccess } from './static-pod';
import { webhooksPod } from './webhooks';

/** The operator's command line. */
export function podArgs(settings: Settings): string[] {
  const { namespace, stateNamespace, secretsProvider, leaderElection, provider, extension, controllerManager, webhooks, ui } = settings;
  const protector = secretsProvider === undefined ? [] : [`--secrets-provider=${secretsProvider}`];
  // They are applied by whoever applies these.
  const state = ['--install-crds=false', '--state-store=cluster', `--state-namespace=${stateNamespace}`, ...protector];
  const lease = [`--leader-elect-resource-namespace=${leaderElection.namespace}`, `--leader-elect-resource-name=${leaderElection.name}`];
  const cloud = provider === undefined ? [] : cloudConfigPod(provider).args;
  const extended = [
    ...(ui ? ['--ui'] : []),
    ...(extension === undefined ? [] : extensionPod(extension).args),
    ...(webhooks === undefined ? [] : webhooksPod(webhooks).args),
    ...(workloadOf(settings) === 'StaticPod' ? staticPodAccess(servesHttps(settings)).args : []),
  ];
  if (controllerManager !== undefined) {
    // Upstream wants the flag: "external" leaves the clouds to CloudProvider objects.
    const clouds = provider === undefined ? ['--cloud-provider=external'] : cloud;
    const { args: upstreams } = controllerManagerPod(controllerManager);
    return ['controller-manager', `--namespace=${namespace}`, ...state, ...clouds, ...extended, ...upstreams];
  }
  return ['run', `--namespace=${namespace}`, ...servingArgs(settings), ...state, ...lease, ...cloud, ...extended];
}
