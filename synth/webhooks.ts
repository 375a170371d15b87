import type { k8s } from 'cdk8s-plus-27';
import { OPERATOR_NAME, type Webhooks } from './options';

/** Of the Service, the Secret with the certificate, and cert-manager's objects. */
export const WEBHOOKS_NAME = `${OPERATOR_NAME}-webhooks`;
const FOLDER = '/etc/cloud-operator-webhooks';
/** The name under which `--webhook-cert-dir` is read. */
const PAIR = 'cloud-controller-manager-webhook';

/** What the Pods get: the flags, and the certificate where its Secret is there. Without it the operator works, and the API server believes no answer. */
export function webhooksPod({ names }: Webhooks): { args: string[]; volumes: k8s.Volume[]; mounts: k8s.VolumeMount[] } {
  const items = ['crt', 'key'].map((kind) => ({ key: `tls.${kind}`, path: `${PAIR}.${kind}` }));
  return {
    args: ['--feature-gates=CloudControllerManagerWebhook=true', `--webhooks=${names.join(',')}`, `--webhook-cert-dir=${FOLDER}`],
    volumes: [{ name: 'webhooks', secret: { secretName: WEBHOOKS_NAME, items, optional: true } }],
    mounts: [{ name: 'webhooks', mountPath: FOLDER, readOnly: true }],
  };
}
