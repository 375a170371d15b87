import { OperatorError } from '../base/errors';
import { rotateKey } from '../updates/state/rotation';
import { type StateFlags, withStore } from './state-place';

/** `state rotate-key`. @throws OperatorError Conflict when some stacks could not be rewritten: doing it again goes on */
export async function rotateStateKey(flags: StateFlags): Promise<void> {
  await withStore(flags, async (store) => {
    const { secretsProvider } = flags;
    const { key, rewritten, left, dropped } = await rotateKey(store, Date.now(), secretsProvider);
    process.stdout.write(`key ${key} is the current one; ${rewritten.length} stacks are encrypted with it\n`);
    if (secretsProvider !== undefined) process.stdout.write(`the data keys are protected by ${secretsProvider}\n`);
    if (dropped.length > 0) process.stdout.write(`dropped: ${dropped.join(', ')}\n`);
    if (left.length === 0) return;
    const reasons = left.map(({ error }) => error.message).join('; ');
    throw new OperatorError('Conflict', `${left.length} stacks were left with their key: ${reasons}`, { remedy: 'run it again later' });
  });
}
