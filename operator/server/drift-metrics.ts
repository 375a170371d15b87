import { Counter, Gauge, type Registry } from 'prom-client';
import type { CloudStackSpec } from '../../crds';
import type { Store } from '../kube/api';
import type { Judged } from './object-state';

/** What is asked of a CloudStack. */
export type JudgedStack = Judged & { spec: Pick<CloudStackSpec, 'provider' | 'kind'> };

/** Where the cloud differs from what is wanted: how often that is found, and how many stacks are left so. */
export class DriftMetrics {
  private readonly finds: Counter<'provider' | 'kind' | 'policy'>;
  private stacks: Pick<Store<JudgedStack>, 'list'> = { list: () => [] };

  constructor(registers: Registry[]) {
    this.finds = new Counter({
      name: 'cloud_operator_drift_total',
      help: 'Times that a stack in the cloud was found to differ from what is wanted',
      labelNames: ['provider', 'kind', 'policy'],
      registers,
    });
    const left = (): JudgedStack[] => this.stacks.list().filter(isLeftDrifted);
    new Gauge({
      name: 'cloud_operator_drifted_stacks',
      help: 'Stacks that differ in the cloud from what is wanted, and are left so by a lever or by driftPolicy',
      labelNames: ['provider', 'kind'],
      registers,
      collect() {
        this.reset();
        left().forEach(({ spec: { provider, kind } }) => this.inc({ provider, kind }));
      },
    });
  }

  /** @param policy `Heal` = it is healed, `Report` = it is only said */
  found(provider: string, kind: CloudStackSpec['kind'], policy: 'Heal' | 'Report'): void {
    this.finds.inc({ provider, kind, policy });
  }

  /** Shows how many of these CloudStacks are left as they differ. */
  follow(stacks: Pick<Store<JudgedStack>, 'list'>): void {
    this.stacks = stacks;
  }
}

/** Only what is left has the condition: what is being healed says so as the reason of Reconciling. */
function isLeftDrifted({ status }: JudgedStack): boolean {
  return (status?.conditions ?? []).some((condition) => condition.type === 'Drifted' && condition.status === 'True');
}
