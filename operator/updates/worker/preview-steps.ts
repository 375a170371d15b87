import type { EngineEvent } from '@pulumi/pulumi/automation';
import type { JsonObject } from '../../base/json';
import type { PreviewStep } from '../plan';

/** What a preview's events say of resources, in the order of the engine. */
export class PreviewSteps {
  readonly steps: PreviewStep[] = [];

  take({ resourcePreEvent }: EngineEvent): void {
    if (resourcePreEvent === undefined) return;
    const { op, urn, type, old, new: wanted, diffs, detailedDiff } = resourcePreEvent.metadata;
    if (op === 'same' || type === 'pulumi:pulumi:Stack' || type.startsWith('pulumi:providers:')) return;
    const differs = Object.keys(detailedDiff ?? {});
    this.steps.push({
      ...{ op, urn, type },
      ...(old === undefined || old === null ? {} : { old: { inputs: old.inputs as JsonObject } }),
      ...(wanted === undefined || wanted === null ? {} : { new: { inputs: wanted.inputs as JsonObject } }),
      differs: differs.length > 0 ? differs : (diffs ?? []),
    });
  }
}
