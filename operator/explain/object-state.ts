import type { Condition } from '../../crds';
import type { Judged } from './kinds';

/** What a state means for whoever reads it. */
export type Tone = 'good' | 'waiting' | 'bad' | 'plain';

export interface ObjectState {
  /** One word: Ready, Reconciling, Stalled, NotReady, NotSeen, Deleting. */
  word: 'Ready' | 'Reconciling' | 'Stalled' | 'NotReady' | 'NotSeen' | 'Deleting';
  tone: Tone;
  /** The condition that decided. */
  condition?: Condition;
}

/** The state of one of our objects in one word, by kstatus's order: deletion, generation, then conditions. Pure. */
export function objectState({ metadata, status }: Judged): ObjectState {
  const found = (type: string): Condition | undefined => status?.conditions?.find((condition) => condition.type === type);
  const holds = (type: string): Condition | undefined => (found(type)?.status === 'True' ? found(type) : undefined);
  const ready = found('Ready');
  const decided = (word: ObjectState['word'], tone: Tone, condition?: Condition): ObjectState => ({
    word,
    tone,
    ...(condition === undefined ? {} : { condition }),
  });
  if (metadata.deletionTimestamp !== undefined) return decided('Deleting', 'waiting', holds('Stalled') ?? ready);
  if (status?.observedGeneration !== metadata.generation) return decided('NotSeen', 'waiting');
  if (holds('Stalled') !== undefined) return decided('Stalled', 'bad', holds('Stalled'));
  if (holds('Reconciling') !== undefined) return decided('Reconciling', 'waiting', holds('Reconciling'));
  return ready?.status === 'True' ? decided('Ready', 'good', ready) : decided('NotReady', 'bad', ready);
}
