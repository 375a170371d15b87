import type { EngineEvent } from '@pulumi/pulumi/automation';
import type { ChangeCounts } from '../update';
import type { WorkerEvent } from '../protocol';

/** What the engine's events say, gathered during one update. */
export class EngineEvents {
  readonly changes: ChangeCounts = { create: 0, update: 0, replace: 0, delete: 0, same: 0 };
  readonly errors: { urn?: string; message: string }[] = [];
  /** Steps that failed. */
  readonly failed: { op: string; urn: string }[] = [];
  /** URNs of what is there, and has been dealt with. */
  readonly reached = new Set<string>();

  constructor(
    private readonly id: string,
    private readonly emit: (event: WorkerEvent) => void,
    /** Takes out of a message what nobody may read. */
    private readonly redact: (text: string) => string,
  ) {}

  take(event: EngineEvent): void {
    if (event.resourcePreEvent !== undefined) this.#step(event.resourcePreEvent.metadata, 'Started');
    if (event.resOutputsEvent !== undefined) this.#step(event.resOutputsEvent.metadata, 'Done');
    if (event.resOpFailedEvent !== undefined) this.#step(event.resOpFailedEvent.metadata, 'Failed');
    if (event.diagnosticEvent !== undefined) this.#diagnostic(event.diagnosticEvent);
  }

  #step({ op, urn, type }: { op: string; urn: string; type: string }, state: 'Started' | 'Done' | 'Failed'): void {
    if (type === 'pulumi:pulumi:Stack' || type.startsWith('pulumi:providers:')) return;
    if (state === 'Done') this.#count(op);
    if (state === 'Done' && !op.startsWith('delete')) this.reached.add(urn);
    if (state === 'Failed') this.failed.push({ op, urn });
    if (op !== 'same') this.emit({ type: 'resource', id: this.id, urn, op, state });
  }

  #count(op: string): void {
    if (op === 'create-replacement') this.changes.replace++;
    else if (op in this.changes && op !== 'replace') this.changes[op as keyof ChangeCounts]++;
  }

  #diagnostic(event: NonNullable<EngineEvent['diagnosticEvent']>): void {
    const severity = event.severity === 'error' || event.severity === 'warning' ? event.severity : 'info';
    // Debug lines of the SDK come by the dozen; they help nobody here.
    if (severity === 'info' && (event.severity as string) !== 'info') return;
    const message = this.redact(event.message.replace(/<\{%[^%]*%\}>/g, '').trim());
    const urn = event.urn === undefined || event.urn === '' ? {} : { urn: event.urn };
    if (severity === 'error') this.errors.push({ message, ...urn });
    this.emit({ type: 'diagnostic', id: this.id, severity, message, ...urn });
  }
}
