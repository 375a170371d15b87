import { ensureTools } from '../../tools/ensure';
import { keepHeapSmall } from '../base/node-flags';
import type { FlagValues } from '../flags/table';
import type { DefaultProvider } from './default-provider';
import { optionsOf } from './operator-options';

/** Runs the operator until it is told to stop. @throws OperatorError when it can't begin, or has lost its lease */
export async function runFromFlags(values: FlagValues, provider: DefaultProvider | undefined): Promise<void> {
  keepHeapSmall();
  const { pulumi } = await ensureTools(['pulumi']);
  const options = optionsOf(values, { pulumi, provider });
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  const { runOperator } = await import('../main.js');
  await runOperator(options, stop.signal);
}
