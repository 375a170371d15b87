import { systemClock } from './base/clock';
import { toOperatorError } from './base/errors';
import type { Logger } from './base/log';
import { CloudRegistry, type CloudRegistryOptions } from './cloud/providers/registry';
import { VolumeClouds } from './cloud/providers/volume-clouds';
import type { ClusterID } from './cluster-id';
import type { WebhookName } from './flags/webhooks';
import type { KubeObject } from './kube/object';
import type { Store } from './kube/api';
import type { CloudProviderSpec } from '../crds';
import { VolumeAdmission } from './loops/volume/admission';
import type { OperatorOptions } from './options';
import type { AdmissionAnswer, AdmissionHandler } from './server/admission-review';
import type { Metrics } from './server/metrics';
import { WebhookServer } from './server/webhook-server';
import { Accounts } from './updates/limits/accounts';
import { watchCalls } from './cloud-calls';

export interface WebhooksParts {
  /** How clouds are reached. */
  clouds: Omit<CloudRegistryOptions, 'accounts'>;
  clusterID: ClusterID;
  providers: Pick<Store<KubeObject & { spec: CloudProviderSpec }>, 'list'>;
  metrics: Metrics;
  logger: Logger;
}

/** The webhooks that the flags select, served by every replica, the leader or not (contract 7.1). */
export class Webhooks {
  private readonly volumes: VolumeClouds;
  private server: WebhookServer | undefined;

  constructor(
    private readonly options: Pick<OperatorOptions, 'webhooks' | 'defaultProvider'>,
    private readonly parts: WebhooksParts,
  ) {
    const accounts = new Accounts(systemClock, watchCalls(parts.metrics, parts.logger));
    const registry = new CloudRegistry({ ...parts.clouds, accounts });
    this.volumes = new VolumeClouds({ registry, providers: () => this.providers(), clock: systemClock });
  }

  /** Listens, where there is something to serve. @throws OperatorError when a certificate or the address can't be had */
  async start(signal: AbortSignal): Promise<void> {
    const { webhooks } = this.options;
    const { clusterID, metrics, logger } = this.parts;
    if (webhooks === undefined) return;
    const { names, enabled, serving } = webhooks;
    if (!enabled)
      return logger.warn({ webhooks: names }, 'webhooks are not served: --feature-gates=CloudControllerManagerWebhook=true is missing');
    clusterID.known.then(
      (id) => this.volumes.know(id),
      () => undefined, // said where the operator starts
    );
    const handlers = new Map(names.map((name) => [name, this.handlerOf(name)]));
    this.server = new WebhookServer({ serving, handlers, metrics: metrics.webhooks, clock: systemClock, logger });
    logger.info({ ...(await this.server.start(signal)), webhooks: names }, 'serving webhooks');
  }

  async stop(): Promise<void> {
    await this.server?.stop();
    await this.volumes.close();
  }

  private handlerOf(name: WebhookName): AdmissionHandler {
    const admission = new VolumeAdmission((spec) => this.volumes.place(spec as Parameters<VolumeClouds['place']>[0]));
    const makers: Record<WebhookName, AdmissionHandler> = {
      'persistent-volume-label': async (request) => answer(() => admission.review(request)),
    };
    return makers[name];
  }

  /** As the cluster has them, and the one from the flags until the cluster has it. */
  private providers(): ReadonlyMap<string, CloudProviderSpec> {
    const { defaultProvider } = this.options;
    const known = this.parts.providers.list().map(({ metadata, spec }): [string, CloudProviderSpec] => [metadata.name, spec]);
    return new Map([...(defaultProvider === undefined ? [] : [[defaultProvider.name, defaultProvider.spec] as const]), ...known]);
  }
}

const REFUSED = ['NotFound', 'Invalid'];

/** What names something that isn't there, or can't be read, is refused, as upstream's plugin did; what can't be found out now fails the call. */
async function answer(review: () => Promise<object[]>): Promise<AdmissionAnswer> {
  try {
    return { allowed: true, patch: await review() };
  } catch (thrown) {
    const error = toOperatorError(thrown);
    if (!REFUSED.includes(error.code)) throw error;
    return { allowed: false, status: { code: 403, message: error.message } };
  }
}
