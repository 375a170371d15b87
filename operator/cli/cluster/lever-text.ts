import type { Lever } from '../../cloud/levers';

/** The lever that was found in force after a command has written. */
export interface InForce {
  lever: Lever | undefined;
  /** The CloudProvider, where the user may not read it: it may hold more. */
  unread?: string;
}

/** What is said of an object that was paused. @param asked the lever that was set. Pure. */
export function pausedText(asked: 'PauseAll' | 'PauseUpdates', { lever, unread }: InForce): string {
  if (lever !== undefined && lever.kind !== asked) return `is paused, but another lever is in force: ${lever.why}`;
  const what = asked === 'PauseAll' ? 'nothing of it is written to the cloud' : 'only its targets follow the Nodes';
  return `is paused: ${what}${asked === 'PauseAll' ? '' : unlessHeld(unread)}`;
}

/** What is said of an object that was resumed. @param taken off it, in words @param done the same where nothing else holds it. Pure. */
export function resumedText({ taken, done }: { taken: string; done: string }, { lever, unread }: InForce): string {
  return lever === undefined ? `${done}${unlessHeld(unread)}` : `${taken}, but another lever is in force: ${lever.why}`;
}

function unlessHeld(provider: string | undefined): string {
  return provider === undefined ? '' : `, unless CloudProvider ${provider} holds it, which you may not read`;
}
