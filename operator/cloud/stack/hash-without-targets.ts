import type { JsonObject } from '../../base/json';
import type { StackUpdate } from '../../updates/update';
import { updateHash } from '../../updates/update-hash';
import type { ConnectedCloud } from '../providers/registry';
import type { Member, StackKind } from './stack-kind';

/** Takes out of rendered inputs what comes of the Nodes. */
export type WithoutTargets = (inputs: JsonObject) => JsonObject;

/** That of a kind of stacks on a cloud; a kind without it has nothing of the Nodes in its inputs. Pure. */
export function withoutTargetsOf<O extends Member>(kind: Pick<StackKind<O>, 'withoutTargets'>, cloud: ConnectedCloud): WithoutTargets {
  return (rendered) => kind.withoutTargets?.(rendered, cloud) ?? rendered;
}

/** Hash of an update that stays the same while Nodes come and go. Pure. */
export function hashWithoutTargets(update: StackUpdate, withoutTargets: WithoutTargets): string {
  const { inputs } = update;
  return updateHash({ ...update, inputs: inputs === undefined ? undefined : withoutTargets(inputs) });
}
