import { ANNOTATIONS } from '../../../crds';
import type { ConnectedCloud, CloudRegistry } from '../providers/registry';
import type { Verdict, Warning } from '../conditions';
import type { StackIndex } from './stack-index';
import type { StackRecord } from './stack-record';

/** Condition type: a cloud that the object has left keeps what it had there. */
export const FORMER_CLOUD_KEPT = 'FormerCloudKept';

interface Known {
  index: Pick<StackIndex, 'formersOf'>;
  record: Pick<StackRecord, 'providerOf'>;
  registry: Pick<CloudRegistry, 'get' | 'pauseOf'>;
}

/**
 * What keeps writes out of a CloudProvider's cloud: the reason of a condition, what it is, and the command that takes it off. Pure.
 * @param pause value of its annotation
 */
function holdOn(
  { name, spec }: Pick<ConnectedCloud, 'name' | 'spec'>,
  pause: string | undefined,
): { reason: string; why: string; remedy: string } | undefined {
  const command = (patch: string): string => `kubectl patch cloudprovider ${name} --type merge -p '{"spec":{${patch}}}'`;
  if (spec.freeze) return { reason: 'Frozen', why: `CloudProvider ${name} is frozen (spec.freeze)`, remedy: command('"freeze":false') };
  if (spec.managementPolicy === 'Observe') {
    const why = `CloudProvider ${name} is only observed (spec.managementPolicy)`;
    return { reason: 'Observed', why, remedy: command('"managementPolicy":null') };
  }
  if (pause === undefined) return undefined;
  const why = `CloudProvider ${name} is paused (annotation ${ANNOTATIONS.pause})`;
  return { reason: 'Paused', why, remedy: `kubectl annotate cloudprovider ${name} ${ANNOTATIONS.pause}-` };
}

/** Says of an object that stacks which it has left still have something of it, because nothing may be written to their clouds. Pure. */
export function formerCloudsKept(key: string, { index, record, registry }: Known): Warning[] {
  const said = index.formersOf(key).flatMap((stack) => {
    const cloud = registry.get(record.providerOf(stack) ?? '');
    const hold = cloud === undefined ? undefined : holdOn(cloud, registry.pauseOf(cloud.name));
    if (hold === undefined) return [];
    const message = `${hold.why}, so that what CloudStack ${stack}, which it has left, has of it stays in that cloud. To have it deleted: ${hold.remedy}`;
    return [{ reason: hold.reason, message }];
  });
  const [first] = said;
  if (first === undefined) return [];
  return [{ type: FORMER_CLOUD_KEPT, reason: first.reason, message: said.map(({ message }) => message).join('; ') }];
}

/**
 * Why a move that deletes first can't go on: nothing is deleted in the cloud that has it; undefined = it can. Pure.
 * @param why the move: the beginning of a sentence
 * @param pause value of the annotation of that CloudProvider
 */
export function gapHeld(why: string, cloud: ConnectedCloud | undefined, pause: string | undefined): Verdict | undefined {
  const hold = cloud === undefined ? undefined : holdOn(cloud, pause);
  if (hold === undefined) return undefined;
  return {
    state: 'Stalled',
    reason: hold.reason,
    message: `${why}. But ${hold.why}, so that nothing is deleted there. To go on: ${hold.remedy}`,
  };
}

/** What is said of a stack of which nobody is a member, and in which nothing may be done. Pure. */
export function stackHeld(cloud: ConnectedCloud | undefined, registry: Pick<CloudRegistry, 'pauseOf'>): Verdict | undefined {
  const hold = cloud === undefined ? undefined : holdOn(cloud, registry.pauseOf(cloud.name));
  if (hold === undefined) return undefined;
  const message = `it has no members, and what it has in the cloud stays as it is: ${hold.why}. To go on: ${hold.remedy}`;
  return hold.reason === 'Observed'
    ? { state: 'Ready', reason: hold.reason, message }
    : { state: 'Reconciling', reason: hold.reason, message, serving: true };
}
