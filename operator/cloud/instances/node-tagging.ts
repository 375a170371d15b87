import { toOperatorError } from '../../base/errors';
import type { Store, StoreChange } from '../../kube/api';
import type { Node } from '../../kube/object';
import type { NodeMachines } from '../../../providers/provider';
import { reasonOfError, type Warning } from '../conditions';
import { intervalOf, jittered, ProviderTimer, type ProviderTimerOptions } from '../providers/provider-timer';

/** Condition type of a CloudProvider: the tags of Nodes' machines can't be brought to what is wanted. */
const NODE_TAGS_FAILED = 'NodeTagsFailed';

export interface NodeTaggingOptions extends ProviderTimerOptions {
  nodes: Store<Node>;
  isValid: () => boolean;
  /** What is to be said of a provider has changed. */
  told: (provider: string) => void;
}

/**
 * Upstream's tagging controller, level-triggered: the tags that a CloudProvider asks for on its Nodes' machines are looked at when a Node comes or goes,
 * when the CloudProvider changes, and as often as drift is. Nothing runs for one that asks for none.
 */
export class NodeTagging {
  private readonly timer: ProviderTimer;
  private readonly problems = new Map<string, Warning>();

  constructor(private readonly options: NodeTaggingOptions) {
    this.timer = new ProviderTimer(options, {
      waitMs: (provider) => jittered(intervalOf(options.registry, provider, 'driftInterval'), options.random),
      pass: (provider) => this.pass(provider),
      failure: 'the tags of Nodes’ machines could not be brought up to date',
    });
  }

  /** Runs until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { nodes, registry } = this.options;
    const askAll = (): void => registry.list().forEach(({ name }) => this.ask(name));
    const stops = [
      nodes.onChange((change) => {
        if (isOtherMachine(change)) askAll();
      }),
      registry.onChange((provider) => this.ask(provider)),
    ];
    registry.owners.onChange(askAll);
    askAll();
    await this.timer.run(signal);
    stops.forEach((stop) => stop());
  }

  /** What a CloudProvider is to say of it. */
  warnings(provider: string): Warning[] {
    const problem = this.problems.get(provider);
    return problem === undefined ? [] : [problem];
  }

  private ask(provider: string): void {
    if (this.isAskedFor(provider)) void this.timer.ask(provider);
    else this.say(provider, undefined);
  }

  private isAskedFor(provider: string): boolean {
    const { registry } = this.options;
    return registry.get(provider)?.cloud?.instances?.tagNodes !== undefined && !registry.isFrozen(provider);
  }

  private async pass(provider: string): Promise<void> {
    if (!this.isAskedFor(provider)) return;
    const { registry, isValid } = this.options;
    try {
      const { instances } = registry.connected(provider).cloud;
      await instances?.tagNodes?.(this.machinesOf(provider), () => isValid() && !registry.isFrozen(provider));
      this.say(provider, undefined);
    } catch (thrown) {
      const error = toOperatorError(thrown);
      if (error.code === 'Canceled') return;
      this.say(provider, { type: NODE_TAGS_FAILED, reason: reasonOfError(error), message: error.message });
      throw error;
    }
  }

  private machinesOf(provider: string): NodeMachines {
    const { nodes, registry } = this.options;
    const all = nodes.list().flatMap(({ metadata: { name, labels = {} }, spec: { providerID = '' } }) => {
      return providerID === '' ? [] : [{ providerID, owner: registry.forNode({ name, labels, providerID }) }];
    });
    const idsOf = (some: typeof all): string[] => some.map(({ providerID }) => providerID);
    return { own: idsOf(all.filter(({ owner }) => owner === provider)), all: idsOf(all) };
  }

  private say(provider: string, problem: Warning | undefined): void {
    if (this.problems.get(provider)?.message === problem?.message) return;
    if (problem === undefined) this.problems.delete(provider);
    else this.problems.set(provider, problem);
    this.options.told(provider);
  }
}

function isOtherMachine({ previous, current }: StoreChange<Node>): boolean {
  return previous?.spec.providerID !== current?.spec.providerID || previous?.metadata.uid !== current?.metadata.uid;
}
