import { isDeepStrictEqual } from 'node:util';
import { API_VERSION, CLOUD_STACKS, FIELD_MANAGERS, type CloudStackStatus } from '../../../crds';
import type { Clock } from '../../base/clock';
import type { KubeApi, Store } from '../../kube/api';
import { conditionsOf } from '../conditions';
import { isLeftover, type Leftover } from './leftovers';
import { releaseText, stackSpec, type StoredStack } from '../stack/stack-record';

/** Reason of the conditions of such a CloudStack. */
const LEFTOVER = 'Leftover';

export interface LeftoverRecordsOptions {
  api: KubeApi;
  store: Store<StoredStack>;
  clock: Clock;
}

/** The CloudStacks that stand for leftovers: people see them there, and release them there (docs/operate/sweep.md). */
export class LeftoverRecords {
  constructor(private readonly options: LeftoverRecordsOptions) {}

  /** Brings a provider's records to what a sweep has found. */
  async write(provider: string, leftovers: readonly Leftover[]): Promise<void> {
    const found = new Set(leftovers.map(({ stack }) => stack));
    for (const leftover of leftovers) await this.writeOne(provider, leftover);
    for (const record of this.options.store.list())
      if (isLeftover(record) && record.spec.provider === provider && !found.has(record.metadata.name))
        await this.options.api.remove(CLOUD_STACKS, record.metadata.name);
  }

  private async writeOne(provider: string, { stack, kind, resources, incarnation }: Leftover): Promise<void> {
    const before = this.options.store.get(stack);
    const now = new Date(this.options.clock.now()).toISOString();
    const generation = before?.metadata.generation ?? 1;
    const message = `${resources.length} resources in the cloud bear this cluster's mark, and nothing accounts for them. ${releaseText(stack, incarnation)}`;
    const status: CloudStackStatus = {
      incarnation,
      resources,
      resourceCount: resources.length,
      observedGeneration: generation,
      conditions: conditionsOf({ state: 'Stalled', reason: LEFTOVER, message }, generation, before?.status?.conditions ?? [], now),
    };
    if (isDeepStrictEqual(status, before?.status)) return;
    const head = { apiVersion: API_VERSION, kind: 'CloudStack', metadata: { name: stack } };
    const options = { fieldManager: FIELD_MANAGERS.cloud, force: true };
    if (before === undefined) await this.options.api.apply(CLOUD_STACKS, stack, { ...head, spec: stackSpec(provider, kind) }, options);
    await this.options.api.apply(CLOUD_STACKS, stack, { ...head, status }, { ...options, subresource: 'status' });
  }
}
