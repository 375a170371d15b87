import type { ArmClient } from '../client/arm-client';
import { type InstanceView, type Machine, MACHINES } from './machine';

/** What machines by themselves do, by their ids in lower case. */
export type MachineStates = ReadonlyMap<string, InstanceView>;

interface Reading {
  /** When it was begun: monotonic, milliseconds. */
  at: number;
  isOver: boolean;
  states: Promise<MachineStates>;
}

/**
 * Reads what machines do that belong to no uniform scale set. Azure says so of all machines of a subscription together, or else not in a list: so one
 * reading serves all resource groups.
 */
export class StateReads {
  /** How many calls the newest reading took. */
  pages = 0;
  private newest: Reading | undefined;

  constructor(
    private readonly arm: ArmClient,
    private readonly subscription: string,
  ) {}

  /** A new reading. */
  take(): Promise<MachineStates> {
    const reading: Reading = { at: this.arm.retryPolicy.clock.monotonic(), isOver: false, states: this.read() };
    this.newest = reading;
    reading.states.then(
      () => (reading.isOver = true),
      () => this.forget(reading),
    );
    return reading.states;
  }

  /** The newest reading; a new one where that was begun longer ago, or lacks one of the machines: it was made since. */
  async share(maxAgeMs: number, ids: readonly string[]): Promise<MachineStates> {
    const { newest } = this;
    if (newest !== undefined && (!newest.isOver || this.arm.retryPolicy.clock.monotonic() - newest.at <= maxAgeMs)) {
      const states = await newest.states;
      if (ids.every((id) => states.has(id))) return states;
    }
    return this.take();
  }

  private async read(): Promise<MachineStates> {
    let pages = 0;
    const path = `/subscriptions/${this.subscription}/providers/${MACHINES}`;
    const found = await this.arm.list<Pick<Machine, 'id' | 'properties'>>(path, MACHINES, {
      query: { statusOnly: 'true' },
      onPage: () => pages++,
    });
    this.pages = pages;
    return new Map(found.map(({ id, properties }) => [id.toLowerCase(), properties.instanceView ?? {}]));
  }

  private forget(reading: Reading): void {
    if (this.newest === reading) this.newest = undefined;
  }
}
