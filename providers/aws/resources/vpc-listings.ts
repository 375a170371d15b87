import type { RouteTable, Subnet } from '@aws-sdk/client-ec2';
import type { Clock } from '../../../operator/base/clock';
import type { Ec2 } from '../client/ec2';

/** How long a listing serves load balancers that are made one after another. */
const FRESH_MS = 15_000;

interface Listing<T> {
  at: number;
  items: Promise<T[]>;
}

/** Subnets and route tables of VPCs, for the types of one update. */
export interface Vpcs {
  /** Monotonic milliseconds, as `since` counts them. */
  now(): number;
  /** @param since the listing is made no earlier than then; absent = one that was made a moment ago will do */
  subnets(vpcID: string, since?: number): Promise<Subnet[]>;
  routeTables(vpcID: string, since?: number): Promise<RouteTable[]>;
}

/** What all load balancers ask for alike when they are made, one after another in an update process, is listed at most once in fifteen seconds. */
export class VpcListings {
  readonly #subnets = new Map<string, Listing<Subnet>>();
  readonly #tables = new Map<string, Listing<RouteTable>>();

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {}

  /** @param account what one may see, another one may not */
  of(account: string, ec2: Pick<Ec2, 'subnets' | 'routeTables'>): Vpcs {
    const inVpc = (id: string): { Name: string; Values: string[] }[] => [{ Name: 'vpc-id', Values: [id] }];
    return {
      now: () => this.clock.monotonic(),
      subnets: (id, since) => this.#list(this.#subnets, [account, id], since, () => ec2.subnets(inVpc(id))),
      routeTables: (id, since) => this.#list(this.#tables, [account, id], since, () => ec2.routeTables(inVpc(id))),
    };
  }

  #list<T>(listings: Map<string, Listing<T>>, keys: string[], since: number | undefined, list: () => Promise<T[]>): Promise<T[]> {
    const [key, now] = [keys.join(' '), this.clock.monotonic()];
    const known = listings.get(key);
    if (known !== undefined && known.at >= (since ?? now - FRESH_MS)) return known.items;
    // Accounts come and go with their credentials.
    for (const [other, { at }] of listings) if (at < now - FRESH_MS) listings.delete(other);
    const listing = { at: now, items: list() };
    listings.set(key, listing);
    // What failed is no answer for those who ask later.
    listing.items.catch(() => listings.get(key) === listing && listings.delete(key));
    return listing.items;
  }
}
