import { pino, type Logger } from 'pino';

export type { Logger };

export interface LogOptions {
  /** `trace`, `debug`, `info`, `warn`, `error` or `silent`. */
  level?: string;
  /** File descriptor or path; absent = standard error. */
  destination?: number | string;
}

/** A structured logger: one JSON object a line. Children carry the object they speak of: `log.child({service: 'demo/web'})`. */
export function createLogger(name: string, options: LogOptions = {}): Logger {
  return pino(
    { name, level: options.level ?? 'info', base: { name }, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: options.destination ?? 2, sync: true }),
  );
}

/** Writes nothing; for tests. */
export const silentLogger: Logger = pino({ level: 'silent' });
