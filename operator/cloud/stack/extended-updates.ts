import type { LoadBalancer } from '../../../extensions';
import type { LoadBalancerInput } from '../../../providers/provider';
import type { ExtensionModule } from '../../updates/extension-module';
import type { StackUpdate, UpdateHooks, UpdateResult, Updates } from '../../updates/update';
import type { ExtraStacks } from './extra-stacks';
import { isPromised } from '../plan/promise';

/**
 * Updates of load balancers' stacks where there is an extension: its transform goes with every update, its extra stack follows a success and
 * goes before a destroy.
 */
export class ExtendedUpdates implements Updates {
  readonly states: Updates['states'] = () => this.inner.states();
  readonly state: Updates['state'] = (stack) => this.inner.state(stack);
  readonly preview: Updates['preview'] = (update, hooks) => this.inner.preview(update, hooks);
  readonly compare: Updates['compare'] = (...of) => this.inner.compare(...of);
  readonly adoptFindings: Updates['adoptFindings'] = (...of) => this.inner.adoptFindings(...of);
  readonly amend: Updates['amend'] = (...of) => this.inner.amend(...of);
  readonly moment: Updates['moment'] = () => this.inner.moment();
  readonly close: Updates['close'] = () => this.inner.close();

  constructor(
    private readonly inner: Updates,
    /** Absent = only what an earlier extension left is seen to. */
    private readonly module: ExtensionModule | undefined,
    private readonly extras: ExtraStacks,
  ) {}

  /** The update with the extension's transform in it; it is then part of its hash. Pure. */
  extend(update: StackUpdate): StackUpdate {
    const { module } = this;
    if (module === undefined || update.inputs === undefined) return update;
    return { ...update, extension: { role: 'transform', module, loadBalancers: loadBalancersOf(update) } };
  }

  /** What the extension has made beside the stack stays as well. */
  async forget(stack: string): Promise<void> {
    await this.extras.forget(stack);
    await this.inner.forget(stack);
  }

  async run(update: StackUpdate, hooks: UpdateHooks): Promise<UpdateResult> {
    if (update.inputs === undefined) {
      await this.extras.destroy(update);
      return this.inner.run(update, hooks);
    }
    const result = await this.inner.run(update, hooks);
    this.extras.settled({ update, loadBalancers: loadBalancersOf(update), outputs: result.outputs });
    return result;
  }
}

/** Those whose inputs the update is rendered from. */
function loadBalancersOf({ accepted = {} }: StackUpdate): LoadBalancer[] {
  const inputs = (Object.values(accepted) as unknown as LoadBalancerInput[]).filter((input) => !isPromised(input));
  const sorted = [...inputs].sort((a, b) => (a.uid < b.uid ? -1 : 1));
  return sorted.map(({ uid, namespace, name, spec }) => ({ uid, namespace, name, spec }));
}
