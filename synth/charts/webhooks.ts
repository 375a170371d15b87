import { ApiObject, Chart } from 'cdk8s';
import { k8s } from 'cdk8s-plus-27';
import type { Construct } from 'constructs';
import { GROUP } from '../../crds';
import { labels, OPERATOR_NAME, type Settings, type WebhookName, type Webhooks } from '../options';
import { WEBHOOKS_NAME } from '../webhooks';

const HTTPS = 443;
const CERT_MANAGER = 'cert-manager.io/v1';

/** What each webhook is asked about. */
const RULES: Record<WebhookName, k8s.RuleWithOperations[]> = {
  'persistent-volume-label': [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['persistentvolumes'] }],
};

/** The webhooks that the operator hosts, as the API server reaches and believes them. */
export class WebhooksChart extends Chart {
  constructor(scope: Construct, { namespace }: Settings, webhooks: Webhooks) {
    super(scope, 'webhooks', { disableResourceNameHashes: true });
    const targetPort = k8s.IntOrString.fromNumber(webhooks.port);
    new k8s.KubeService(this, 'service', {
      metadata: { name: WEBHOOKS_NAME, namespace, labels: labels('webhooks') },
      spec: { selector: labels('operator'), ports: [{ name: 'https', port: HTTPS, protocol: 'TCP', targetPort }] },
    });
    if (webhooks.trust === 'cert-manager') this.certificate(namespace);
    this.configuration(namespace, webhooks);
  }

  private configuration(namespace: string, { names, trust }: Webhooks): void {
    const injected = { annotations: { 'cert-manager.io/inject-ca-from': `${namespace}/${WEBHOOKS_NAME}` } };
    const believed = trust === 'cert-manager' ? {} : { caBundle: Buffer.from(trust.caBundle).toString('base64') };
    new k8s.KubeMutatingWebhookConfiguration(this, 'configuration', {
      metadata: { name: OPERATOR_NAME, labels: labels('webhooks'), ...(trust === 'cert-manager' ? injected : {}) },
      webhooks: names.map((name) => ({
        name: `${name}.${GROUP}`,
        admissionReviewVersions: ['v1'],
        clientConfig: { service: { namespace, name: WEBHOOKS_NAME, path: `/${name}`, port: HTTPS }, ...believed },
        // A cluster must not stand still because the operator or its cloud is away.
        failurePolicy: 'Ignore',
        matchPolicy: 'Equivalent',
        reinvocationPolicy: 'IfNeeded',
        rules: RULES[name],
        sideEffects: 'None',
        timeoutSeconds: 10,
      })),
    });
  }

  /** cert-manager makes the certificate, keeps it fresh, and puts its CA into the configuration. */
  private certificate(namespace: string): void {
    const metadata = { name: WEBHOOKS_NAME, namespace, labels: labels('webhooks') };
    new ApiObject(this, 'issuer', { apiVersion: CERT_MANAGER, kind: 'Issuer', metadata, spec: { selfSigned: {} } });
    const dnsNames = ['', '.cluster.local'].map((domain) => `${WEBHOOKS_NAME}.${namespace}.svc${domain}`);
    const spec = { secretName: WEBHOOKS_NAME, dnsNames, issuerRef: { kind: 'Issuer', name: WEBHOOKS_NAME } };
    new ApiObject(this, 'certificate', { apiVersion: CERT_MANAGER, kind: 'Certificate', metadata, spec });
  }
}
