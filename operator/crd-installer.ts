import { FIELD_MANAGERS, KINDS } from '../crds';
import { CRD_REVISION, CRD_REVISION_ANNOTATION, toCRD, type CustomResourceDefinition } from '../crds/crd';
import { sleep, type Clock } from './base/clock';
import { toOperatorError } from './base/errors';
import type { Logger } from './base/log';
import type { KubeApi } from './kube/api';
import { CRDS, type KubeCondition, type KubeObject } from './kube/object';

const LOOK_AGAIN_MS = 1_000;
const RETRY_MS = 15_000;

type StoredCRD = KubeObject & { status?: { conditions?: KubeCondition[] } };

/** Apply: absent, or an older one of ours. Wait: the API server does not serve it yet. The rest is left as it is. */
export type CRDVerdict = 'Apply' | 'Wait' | 'Ready' | 'Newer' | 'Foreign' | 'Deleting';

/** What a leader whose release has this revision does about a CRD of ours (design: Bootstrap). Pure. */
export function judgeCRD(found: StoredCRD | undefined, revision: number): CRDVerdict {
  if (found === undefined) return 'Apply';
  const { deletionTimestamp, annotations = {} } = found.metadata;
  // Its objects go with it: whether they are to come back is for a person to say.
  if (deletionTimestamp !== undefined) return 'Deleting';
  const theirs = annotations[CRD_REVISION_ANNOTATION] ?? '';
  if (!/^[0-9]+$/.test(theirs)) return 'Foreign';
  if (Number(theirs) > revision) return 'Newer';
  if (Number(theirs) < revision) return 'Apply';
  return found.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') === true ? 'Ready' : 'Wait';
}

/** Why the leader leaves a CRD to somebody else, in words. */
const LEFT: Partial<Record<CRDVerdict, string>> = {
  Newer: 'it is of a newer release, and is never made older',
  Foreign: `it has no annotation ${CRD_REVISION_ANNOTATION}, so that somebody else keeps it`,
  Deleting: 'it is being deleted',
};

export interface CRDInstallerOptions {
  api: Pick<KubeApi, 'get' | 'apply'>;
  /** Kinds may have come: whoever waits for them looks again. */
  onInstalled: () => void;
  clock: Clock;
  logger: Logger;
}

/** Brings the CRDs of this release into the cluster, once for each leader: what goes later, a person has taken away. */
export class CRDInstaller {
  private readonly told = new Set<string>();
  private applied = false;

  constructor(private readonly options: CRDInstallerOptions) {}

  /** Until all are there or somebody else's, or the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    let left = KINDS.map(toCRD);
    while (left.length > 0 && !signal.aborted) {
      const steps: { crd: CustomResourceDefinition; step: Step }[] = [];
      for (const crd of left) steps.push({ crd, step: await this.step(crd) });
      left = steps.filter(({ step }) => step !== 'Done').map(({ crd }) => crd);
      const failed = steps.some(({ step }) => step === 'Failed');
      if (left.length > 0) await sleep(this.options.clock, failed ? RETRY_MS : LOOK_AGAIN_MS, signal);
    }
    if (this.applied && !signal.aborted) this.options.onInstalled();
  }

  private async step(crd: CustomResourceDefinition): Promise<Step> {
    const { api, logger } = this.options;
    const { name } = crd.metadata;
    try {
      const verdict = judgeCRD(await api.get<StoredCRD>(CRDS, name), CRD_REVISION);
      const left = LEFT[verdict];
      if (left !== undefined) this.tell(name, () => logger.warn({ crd: name }, `the CRD ${name} is left as it is: ${left}`));
      if (verdict === 'Wait') return 'Pending';
      if (verdict !== 'Apply') return 'Done';
    } catch (thrown) {
      // That the right to look is missing is told with all others.
      logger.debug({ crd: name, err: thrown }, 'a CRD can’t be looked at');
      return 'Failed';
    }
    return this.apply(crd);
  }

  private async apply(crd: CustomResourceDefinition): Promise<Step> {
    const { api, logger } = this.options;
    const { name } = crd.metadata;
    try {
      await api.apply(CRDS, name, crd, { fieldManager: FIELD_MANAGERS.cloud, force: true });
      this.applied = true;
      logger.info({ crd: name, revision: CRD_REVISION }, 'CRD installed');
      return 'Pending';
    } catch (thrown) {
      const { code, message } = toOperatorError(thrown);
      const remedy = 'apply crds.yaml of cloud-operator manifests, or allow it; --install-crds=false leaves it to others';
      const missing = `missing RBAC rule: customresourcedefinitions.apiextensions.k8s.io "${name}" (create, patch); ${remedy}`;
      this.tell(name, () =>
        logger.warn({ crd: name }, code === 'Credentials' ? missing : `the CRD ${name} can't be installed: ${message}`),
      );
      return 'Failed';
    }
  }

  /** Once for each CRD. */
  private tell(name: string, say: () => void): void {
    if (!this.told.has(name)) say();
    this.told.add(name);
  }
}

/** Pending: to be looked at again soon. */
type Step = 'Done' | 'Pending' | 'Failed';
