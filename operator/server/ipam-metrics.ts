import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

const SUBSYSTEM = 'node_ipam_controller';

/** Node IPAM's metrics under upstream's names (contract 6.2), typing error included. */
export class IpamMetrics {
  private readonly allocations: Counter<'clusterCIDR'>;
  private readonly releases: Counter<'clusterCIDR'>;
  private readonly max: Gauge<'clusterCIDR'>;
  private readonly usage: Gauge<'clusterCIDR'>;
  private readonly tries: Histogram<'clusterCIDR'>;

  constructor(registers: Registry[]) {
    const common = { labelNames: ['clusterCIDR'] as const, registers };
    this.allocations = new Counter({ ...common, name: `${SUBSYSTEM}_cidrset_cidrs_allocations_total`, help: 'Node CIDRs taken' });
    this.releases = new Counter({ ...common, name: `${SUBSYSTEM}_cidrset_cidrs_releases_total`, help: 'Node CIDRs given back' });
    this.max = new Gauge({ ...common, name: `${SUBSYSTEM}_cirdset_max_cidrs`, help: 'Node CIDRs that there are' });
    this.usage = new Gauge({ ...common, name: `${SUBSYSTEM}_cidrset_usage_cidrs`, help: 'Share of the node CIDRs that is taken, 0 to 1' });
    this.tries = new Histogram({
      ...{ ...common, name: `${SUBSYSTEM}_cidrset_allocation_tries_per_request`, help: 'Node CIDRs found taken before a free one' },
      buckets: [1, 5, 25, 125, 625],
    });
  }

  /** What becomes of the blocks of one cluster CIDR goes here. @param blocks how many there are */
  of(clusterCIDR: string, blocks: number): CidrMetrics {
    const labels = { clusterCIDR };
    this.max.set(labels, blocks);
    return {
      allocated: (count) => this.allocations.inc(labels, count),
      released: (count) => this.releases.inc(labels, count),
      tries: (count) => this.tries.observe(labels, count),
      usage: (share) => this.usage.set(labels, share),
    };
  }
}

/** What is told of one cluster CIDR's blocks. */
interface CidrMetrics {
  allocated(blocks: number): void;
  released(blocks: number): void;
  tries(blocks: number): void;
  usage(share: number): void;
}
