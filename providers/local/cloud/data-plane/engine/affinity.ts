import type { Clock } from '../../../../../operator/base/clock';

/** More clients than this at once in one pool: the one that has been silent longest is forgotten. */
const MAX_CLIENTS = 10_000;

interface Bond {
  targetKey: string;
  /** Of the client's last connection, milliseconds of the monotonic clock. */
  lastSeen: number;
}

/** Which target each client of a pool keeps. As with kube-proxy, the time counts from the client's last new connection. */
export class Affinity {
  /** By the client's address, the one that was silent longest first. */
  private readonly bonds = new Map<string, Bond>();

  constructor(private readonly clock: Clock) {}

  /** @returns the key of the client's target; undefined when it has none, or was silent for `timeoutMs` */
  targetOf(client: string, timeoutMs: number): string | undefined {
    const bond = this.bonds.get(client);
    return bond === undefined || this.clock.monotonic() - bond.lastSeen >= timeoutMs ? undefined : bond.targetKey;
  }

  /** The client has a new connection to the target. */
  bind(client: string, targetKey: string): void {
    this.bonds.delete(client);
    this.bonds.set(client, { targetKey, lastSeen: this.clock.monotonic() });
    const [longestSilent] = this.bonds.keys();
    if (this.bonds.size > MAX_CLIENTS && longestSilent !== undefined) this.bonds.delete(longestSilent);
  }

  clear(): void {
    this.bonds.clear();
  }
}
