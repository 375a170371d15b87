import type { Instance } from '@aws-sdk/client-ec2';
import { toOperatorError } from '../../../operator/base/errors';
import type { CallOptions } from '../../client-options';
import { chunks } from '../client/chunks';
import type { Ec2 } from '../client/ec2';

/** The most values of one filter. */
const FILTER_VALUES = 200;
/** An update asks for the next hops of its routes side by side, once it has read their table. */
const WINDOW_MS = 20;

interface Waiting {
  id: string;
  resolve: (instance: Instance | undefined) => void;
  reject: (error: Error) => void;
}

/** Instances asked for one by one, read together: those that are asked for close to each other take one call. */
export class InstanceReads {
  private waiting: Waiting[] = [];

  constructor(private readonly ec2: Ec2) {}

  /** @returns undefined where there is none of that id */
  one(id: string, options: CallOptions): Promise<Instance | undefined> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ id, resolve, reject });
      if (this.waiting.length === 1) this.ec2.retryPolicy.clock.after(WINDOW_MS, () => void this.read(options));
    });
  }

  /** By a filter, which passes over an id that is gone; naming it would fail the call for the others. */
  private async read(options: CallOptions): Promise<void> {
    const all = this.waiting.splice(0);
    for (const batch of chunks(all, FILTER_VALUES)) {
      try {
        const ids = [...new Set(batch.map(({ id }) => id))];
        const found = await this.ec2.instances([{ Name: 'instance-id', Values: ids }], options);
        for (const { id, resolve } of batch) resolve(found.find(({ InstanceId }) => InstanceId === id));
      } catch (thrown) {
        for (const { reject } of batch) reject(toOperatorError(thrown));
      }
    }
  }
}
