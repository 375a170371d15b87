import { sleep, type Clock } from '../../../../operator/base/clock';
import type { Rule } from '../rule';

/** Every call takes so much longer, as over a distance. */
export function latency(clock: Clock, ms: number): Rule {
  return {
    async before() {
      await sleep(clock, ms);
      return undefined;
    },
  };
}
