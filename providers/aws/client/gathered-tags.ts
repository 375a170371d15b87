import type { Clock } from '../../../operator/base/clock';
import type { CallOptions } from '../../client-options';
import { byHalves } from './halving';

type TagsByARN = ReadonlyMap<string, Record<string, string>>;

/** For how long a question waits for others, in milliseconds: deletes that the engine begins together come within it. */
const GATHER_MS = 10;

interface Question {
  arn: string;
  options: CallOptions;
  answer: (tags: Promise<Record<string, string> | undefined>) => void;
}

/** Tags of single resources: those that are asked for within a moment of each other take one call. */
export class GatheredTags {
  private waiting: Question[] = [];

  /** @param read gives the tags of all, in batches; throws NotFound when one of them is gone */
  constructor(
    private readonly read: (arns: readonly string[], options: CallOptions) => Promise<TagsByARN>,
    private readonly clock: Clock,
  ) {}

  /** @returns undefined when it is gone. @throws OperatorError as the client */
  of(arn: string, options: CallOptions): Promise<Record<string, string> | undefined> {
    return new Promise((resolve) => {
      this.waiting.push({ arn, options, answer: resolve });
      if (this.waiting.length === 1) this.clock.after(GATHER_MS, () => this.ask());
    });
  }

  /** All are of one update, so any one's options hold for each. */
  private ask(): void {
    const questions = this.waiting;
    this.waiting = [];
    const arns = [...new Set(questions.map(({ arn }) => arn))];
    const all = byHalves(arns, (some) => this.read(some, questions[0]?.options ?? {}));
    for (const { arn, answer } of questions) answer(all.then((tags) => tags.get(arn)));
  }
}
