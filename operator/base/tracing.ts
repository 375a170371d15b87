import { type Change, currentChange, inChange } from './change';
import { type OperatorError, toOperatorError } from './errors';

export type SpanAttributes = Record<string, string | number | boolean>;

/** A span that has begun. */
export interface OpenSpan {
  /** 16 hex digits. */
  id: string;
  set(attributes: SpanAttributes): void;
  end(failure?: OperatorError): void;
  /** Nothing was done that anybody would want to see. */
  drop(): void;
}

/** Where spans go. */
export interface SpanSink {
  /** Begins a span of the change's trace, below the change's open span. */
  start(name: string, change: Change, attributes: SpanAttributes): OpenSpan;
}

const NO_SPAN: OpenSpan = { id: '', set: () => undefined, end: () => undefined, drop: () => undefined };

let sink: SpanSink | undefined;

/** Process-wide, as OpenTelemetry's own API is: what is traced need not know whether it is. @param to undefined = nowhere, the default */
export function traceTo(to: SpanSink | undefined): void {
  sink = to;
}

/** Begins a span of the current change; one that goes nowhere outside of a change, or where nobody traces. Whoever begins it ends it. */
export function startSpan(name: string, attributes: SpanAttributes = {}): OpenSpan {
  const change = currentChange();
  return sink === undefined || change === undefined ? NO_SPAN : sink.start(name, change, attributes);
}

/** Runs something as a span of the current change. @throws what it throws, after the span has ended with it */
export async function traced<T>(name: string, attributes: SpanAttributes, run: (span: OpenSpan) => Promise<T>): Promise<T> {
  const change = currentChange();
  const span = startSpan(name, attributes);
  if (change === undefined || span === NO_SPAN) return run(span);
  try {
    const result = await inChange({ ...change, span: span.id }, () => run(span));
    span.end();
    return result;
  } catch (thrown) {
    span.end(toOperatorError(thrown));
    throw thrown;
  }
}
