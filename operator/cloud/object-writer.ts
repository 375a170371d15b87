import { isDeepStrictEqual } from 'node:util';
import { CLEANUP_FINALIZER, FIELD_MANAGERS, type Condition } from '../../crds';
import { OperatorError, toOperatorError } from '../base/errors';
import type { KubeApi } from '../kube/api';
import { keyOf, type KubeObject, type ResourcePath } from '../kube/object';
import { conditionsOf, type Verdict, type Warning } from './conditions';

type WithStatus = KubeObject & { status?: { conditions?: Condition[] | undefined } };

/** Writes finalizers and status of our kinds; a write that would change nothing is not made. */
export class ObjectWriter {
  constructor(
    private readonly api: KubeApi,
    private readonly resource: ResourcePath,
    private readonly now: () => number,
    /** What an object's status says beside the verdict. */
    private readonly warningsOf: (object: KubeObject) => Warning[] = () => [],
  ) {}

  /**
   * Puts our finalizer on, before anything is made in the cloud.
   * @throws OperatorError Conflict when the object has moved on, or is gone: what is made for it then, nobody would delete
   */
  async addFinalizer(object: KubeObject): Promise<void> {
    const finalizers = object.metadata.finalizers ?? [];
    if (finalizers.includes(CLEANUP_FINALIZER)) return;
    const added = await this.setFinalizers(object, [...finalizers, CLEANUP_FINALIZER]).catch(async (thrown: unknown) => {
      // An object that is being deleted, and waits for somebody else's finalizer, takes no more of them.
      if (await this.isLeaving(object)) return false;
      throw thrown;
    });
    // The API server deletes at once what had no finalizer when it was asked to, also where ours came in between.
    if (!added || (await this.isLeaving(object)))
      throw new OperatorError('Conflict', `${this.resource.kind} ${keyOf(object.metadata)} was deleted meanwhile`);
  }

  /** Takes our finalizer off, after everything is gone from the cloud. */
  async removeFinalizer(object: KubeObject): Promise<void> {
    const finalizers = object.metadata.finalizers ?? [];
    if (!finalizers.includes(CLEANUP_FINALIZER)) return;
    await this.setFinalizers(
      object,
      finalizers.filter((finalizer) => finalizer !== CLEANUP_FINALIZER),
    );
  }

  /**
   * Applies the whole status: `fields` plus the conditions of `verdict`.
   * @param always write even when `object` shows it already (its cache may be behind)
   * @returns true when it was written, false when it was so already
   */
  async writeStatus(object: WithStatus, fields: Record<string, unknown>, verdict: Verdict, always = false): Promise<boolean> {
    const generation = object.metadata.generation ?? 0;
    const previous = object.status?.conditions ?? [];
    const told = { ...verdict, warnings: [...(verdict.warnings ?? []), ...this.warningsOf(object)] };
    const conditions = conditionsOf(told, generation, previous, new Date(this.now()).toISOString());
    const status = withoutUndefined({ ...fields, observedGeneration: generation, conditions });
    if (!always && isDeepStrictEqual(status, object.status)) return false;
    const body = this.body(object, { status });
    await this.api.apply(this.resource, keyOf(object.metadata), body, {
      fieldManager: FIELD_MANAGERS.cloud,
      force: true,
      subresource: 'status',
    });
    return true;
  }

  /**
   * Tests the list that was read, not the whole object: a status write of ours in between is no conflict.
   * @returns false when the object is gone
   */
  private async setFinalizers(object: KubeObject, finalizers: string[]): Promise<boolean> {
    const patch = [
      { op: 'test', path: '/metadata/uid', value: object.metadata.uid },
      { op: 'test', path: '/metadata/finalizers', value: object.metadata.finalizers ?? null },
      { op: 'add', path: '/metadata/finalizers', value: finalizers },
    ];
    try {
      await this.api.patch(this.resource, keyOf(object.metadata), 'json', patch, { fieldManager: FIELD_MANAGERS.cloud });
      return true;
    } catch (thrown) {
      if (toOperatorError(thrown).code !== 'NotFound') throw thrown;
      return false;
    }
  }

  private async isLeaving({ metadata }: KubeObject): Promise<boolean> {
    const now = await this.api.get(this.resource, keyOf(metadata));
    return now === undefined || now.metadata.uid !== metadata.uid || now.metadata.deletionTimestamp !== undefined;
  }

  private body(object: KubeObject, rest: object): object {
    const { name, namespace } = object.metadata;
    const { group, version, kind } = this.resource;
    return { apiVersion: `${group}/${version}`, kind, metadata: namespace === undefined ? { name } : { name, namespace }, ...rest };
  }
}

function withoutUndefined(value: Record<string, unknown>): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
}
