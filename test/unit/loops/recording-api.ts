import type { EventRecorder, EventTarget, KubeApi } from '../../../operator/kube/api';
import type { KubeObject, ResourcePath } from '../../../operator/kube/object';

/** A write that was asked for; objects that are read come from `stored`. */
export interface Write {
  verb: 'create' | 'apply' | 'patch' | 'remove';
  /** `nodes/n1`, `nodes/n1/status`. */
  path: string;
  body?: object;
}

/** Stands in for an API server in tests of what is asked of it, and in which order; Events stand in the same list as `event`. */
export class RecordingApi implements KubeApi, EventRecorder {
  readonly writes: Write[] = [];
  /** `patch nodes/n1`, or the reason and message of an Event, in order. */
  readonly log: string[] = [];
  readonly targets: EventTarget[] = [];
  readonly stored = new Map<string, KubeObject>();
  /** Thrown by the write that is named so, as in `log`. */
  readonly failures = new Map<string, Error>();

  get events(): string[] {
    return this.log.filter((entry) => /^[A-Z]/.test(entry));
  }

  event(target: EventTarget, type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.targets.push(target);
    this.log.push(`${type} ${reason}: ${message}`);
  }

  get<T extends KubeObject>({ plural }: ResourcePath, key: string): Promise<T | undefined> {
    return Promise.resolve(this.stored.get(`${plural}/${key}`) as T | undefined);
  }

  list<T extends KubeObject>(): Promise<T[]> {
    return Promise.resolve([]);
  }

  create<T extends KubeObject>({ plural }: ResourcePath, namespace: string | undefined, body: object): Promise<T> {
    return this.write('create', `${plural}/${namespace}`, body);
  }

  apply<T extends KubeObject>({ plural }: ResourcePath, key: string, body: object): Promise<T> {
    return this.write('apply', `${plural}/${key}`, body);
  }

  // The interface has five parameters.
  // eslint-disable-next-line max-params
  patch<T extends KubeObject>(
    { plural }: ResourcePath,
    key: string,
    _type: string,
    body: object,
    options?: { subresource?: string },
  ): Promise<T> {
    const path = `${plural}/${key}`;
    return this.write('patch', options?.subresource === undefined ? path : `${path}/${options.subresource}`, body);
  }

  async remove({ plural }: ResourcePath, key: string, options?: object): Promise<void> {
    await this.write('remove', `${plural}/${key}`, options);
  }

  /** Answers with what is stored: what a write makes of it is not worked out. */
  private write<T extends KubeObject>(verb: Write['verb'], path: string, body?: object): Promise<T> {
    const name = `${verb} ${path}`;
    this.writes.push({ verb, path, ...(body === undefined ? {} : { body }) });
    this.log.push(name);
    const failure = this.failures.get(name);
    if (failure !== undefined) return Promise.reject(failure);
    return Promise.resolve((this.stored.get(path.replace(/\/status$/, '')) ?? { metadata: { resourceVersion: '0' } }) as T);
  }
}
