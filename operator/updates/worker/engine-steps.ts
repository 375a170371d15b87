import type { EngineEvent } from '@pulumi/pulumi/automation';
import type { JsonObject } from '../../base/json';
import type { EngineStep } from '../plan';

/** Operations that change nothing. */
const UNCHANGING = new Set<string>(['same', 'refresh']);

/** What the engine's events say of the resources that it changes, or would change, in its order. */
export class EngineSteps {
  readonly steps: EngineStep[] = [];

  take({ resourcePreEvent }: EngineEvent): void {
    if (resourcePreEvent === undefined) return;
    const { op, urn, type, old, new: wanted, diffs, detailedDiff } = resourcePreEvent.metadata;
    if (UNCHANGING.has(op) || type === 'pulumi:pulumi:Stack' || type.startsWith('pulumi:providers:')) return;
    const differs = Object.keys(detailedDiff ?? {});
    this.steps.push({
      ...{ op, urn, type },
      ...(old === undefined || old === null ? {} : { old: { inputs: old.inputs as JsonObject } }),
      ...(wanted === undefined || wanted === null ? {} : { new: { inputs: wanted.inputs as JsonObject } }),
      differs: differs.length > 0 ? differs : (diffs ?? []),
    });
  }
}
