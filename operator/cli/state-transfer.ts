import { readFileSync } from 'node:fs';
import { OperatorError, toOperatorError } from '../base/errors';
import { importCheckpoint } from '../updates/state/import';
import { moveStack } from '../updates/state/move';
import { isSamePlace, parsePlace, placeOf, type StateFlags, withState, withStore } from './state-place';

/** `state export`: JSON with four spaces, as the pulumi CLI prints it. @throws OperatorError NotFound */
export async function exportState(stack: string, flags: StateFlags): Promise<void> {
  await withStore(flags, async (store) => {
    const stored = await store.read(stack);
    if (stored === undefined) {
      throw new OperatorError('NotFound', `stack ${stack} is not in ${store.name}`, {
        remedy: '"cloud-operator state list" shows what is',
      });
    }
    process.stdout.write(`${JSON.stringify(stored.record.checkpoint ?? { version: 3, deployment: null }, undefined, 4)}\n`);
  });
}

/** `state import`. @throws OperatorError with one clear line; nothing is changed then */
export async function importState(stack: string, file: string, flags: StateFlags & { provider?: string; force?: boolean }): Promise<void> {
  const content = parse(file);
  await withState(flags, async ({ open, clusterID }) => {
    await importCheckpoint(open(placeOf(flags)), stack, content, {
      clusterID: await clusterID(),
      ...(flags.provider === undefined ? {} : { providerKind: flags.provider }),
      force: flags.force === true,
      now: Date.now(),
    });
    process.stdout.write(`stack ${stack}: imported; the operator compares it with the cloud before its next update\n`);
  });
}

/** `state move`. Goes on with the other stacks when one can't be moved. @throws OperatorError when some are left */
export async function moveStates(stacks: string[], flags: StateFlags & { from: string; to: string }): Promise<void> {
  const from = parsePlace('--from', flags.from, flags.stateNamespace);
  const to = parsePlace('--to', flags.to, flags.stateNamespace);
  if (isSamePlace(from, to)) throw new OperatorError('Invalid', '--from and --to are the same store');
  await withState(flags, async ({ open, clusterID }) => {
    const [source, target, id] = [open(from), open(to), await clusterID()];
    const { stacks: known, damaged } = stacks.length > 0 ? { stacks: [], damaged: [] } : await source.list();
    const failures = damaged.map(({ message }) => message);
    for (const stack of stacks.length > 0 ? stacks : known.map((metadata) => metadata.stack)) {
      const moved = await moveStack(stack, source, target, id).then(
        () => true,
        (thrown: unknown) => void failures.push(toOperatorError(thrown).message),
      );
      if (moved === true) process.stdout.write(`stack ${stack}: moved to ${target.name}\n`);
    }
    if (failures.length > 0) throw new OperatorError('Conflict', `${failures.length} not moved: ${failures.join('; ')}`);
  });
}

function parse(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (cause) {
    throw new OperatorError('Invalid', `${file} can't be read: ${(cause as Error).message}`, { cause });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new OperatorError('Invalid', `${file} is not JSON (cut short, perhaps): ${(cause as Error).message}`, { cause });
  }
}
