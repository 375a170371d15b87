import { hostname } from 'node:os';
import { ensureTools } from '../../tools/ensure';
import { createLogger } from '../base/log';
import { keepHeapSmall } from '../base/node-flags';
import type { FlagValues } from '../flags/table';
import type { DefaultProvider } from './default-provider';
import { startTracing, type TracingOptions } from '../open-telemetry';
import type { OperatorOptions } from '../options';
import { optionsOf } from './operator-options';

/** Runs the operator until it is told to stop. @throws OperatorError when it can't begin, or has lost its lease */
export async function runFromFlags(values: FlagValues, provider: DefaultProvider | undefined): Promise<void> {
  keepHeapSmall();
  const { pulumi } = await ensureTools(['pulumi']);
  const options = optionsOf(values, { pulumi, provider });
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  const { runOperator } = await import('../main.js');
  const stopTracing =
    options.tracing &&
    (await startTracing(tracingOf(options, options.tracing), createLogger('cloud-operator', { level: options.logLevel })));
  try {
    await runOperator(options, stop.signal);
  } finally {
    await stopTracing?.();
  }
}

function tracingOf({ version }: OperatorOptions, { endpoint }: NonNullable<OperatorOptions['tracing']>): TracingOptions {
  const identity = `${hostname()}_${process.pid}`;
  return { version, identity, ...(endpoint === undefined ? {} : { endpoint }) };
}
