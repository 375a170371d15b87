import { isatty } from 'node:tty';
import { pino, type DestinationStream, type Logger } from 'pino';
import { changeFields } from './change';
import type { OperatorError } from './errors';
import { readableLine } from './readable-log';

export type { Logger };

export interface LogOptions {
  /** `trace`, `debug`, `info`, `warn`, `error` or `silent`. */
  level?: string;
  /** File descriptor or path; absent = standard error. */
  destination?: number | string;
}

/** A structured logger: one JSON object a line, or a line for people where that goes to a terminal. Every line carries the change in whose course it is written (Change). */
export function createLogger(name: string, options: LogOptions = {}): Logger {
  return pino(
    { name, level: options.level ?? 'info', base: { name }, timestamp: pino.stdTimeFunctions.isoTime, mixin: changeFields },
    streamTo(options.destination ?? 2),
  );
}

function streamTo(destination: number | string): DestinationStream {
  const stream = pino.destination({ dest: destination, sync: true });
  if (typeof destination !== 'number' || !isatty(destination)) return stream;
  return { write: (text) => void stream.write(`${readableLine(text.trimEnd())}\n`) };
}

/** What a log line says of a failure. Where a person has to mend something, the way through the program says nothing to them. */
export function failureFields(failure: OperatorError): { err: OperatorError } | { code: string; error: string } {
  return failure.terminal ? { code: failure.code, error: failure.message } : { err: failure };
}

/** Writes nothing; for tests. */
export const silentLogger: Logger = pino({ level: 'silent' });
