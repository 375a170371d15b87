import { CLOUD_LOAD_BALANCERS, CLOUD_ROUTES, CLOUD_STACKS, type PlannedOperation, type WaitingPlan } from '../../../crds';
import { splitKey, type ResourcePath } from '../../kube/object';
import { listOurs, type Cluster } from './connect';
import type { StoredStack } from '../../explain/kinds';
import type { Tone } from '../../explain/object-state';
import type { Paint } from './output';

/** A plan, and the object that approves it. */
export interface FoundPlan extends WaitingPlan {
  stack: string;
  kind: 'CloudLoadBalancer' | 'CloudRoute';
}

/** All plans that wait, by their member. */
export async function waitingPlans(cluster: Cluster): Promise<FoundPlan[]> {
  return plansOf(await listOurs<StoredStack>(cluster, CLOUD_STACKS));
}

/** Pure. */
export function plansOf(stacks: readonly StoredStack[]): FoundPlan[] {
  const found = stacks.flatMap(({ metadata, spec, status }) =>
    (status?.plans ?? []).map((plan): FoundPlan => ({
      ...plan,
      stack: metadata.name,
      kind: spec.kind === 'Routes' ? 'CloudRoute' : 'CloudLoadBalancer',
    })),
  );
  return found.sort((a, b) => (a.member < b.member ? -1 : 1));
}

/** Where the object of a plan is served. */
export function resourceOf({ kind }: Pick<FoundPlan, 'kind'>): ResourcePath {
  return kind === 'CloudRoute' ? CLOUD_ROUTES : CLOUD_LOAD_BALANCERS;
}

/** Routes are of no namespace, and so of every one. Pure. */
export function inNamespace({ member }: Pick<FoundPlan, 'member'>, namespace: string): boolean {
  return (splitKey(member).namespace ?? namespace) === namespace;
}

const SIGNS: Record<PlannedOperation['op'], { sign: string; tone: Tone }> = {
  create: { sign: '+', tone: 'good' },
  update: { sign: '~', tone: 'waiting' },
  replace: { sign: '±', tone: 'bad' },
  delete: { sign: '-', tone: 'bad' },
};

/** A plan as people read it: what is done to which resource, and each property's old and new value. Pure. */
export function planText({ member, kind, stack, hash, reason, summary, operations, omitted = 0 }: FoundPlan, paint: Paint): string {
  const lines = [
    `${kind} ${member} (stack ${stack})`,
    `  waits since ${reason}`,
    `  ${summary}`,
    ...operations.flatMap((operation) => operationLines(operation, paint)),
    ...(omitted === 0 ? [] : [`${notShown(omitted)}; the hash is of them too`]),
    `  kubectl cloud approve ${hash}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** How much of a plan is left out. Pure. */
export function notShown(omitted: number): string {
  return `  … and ${omitted} operations and properties that are not shown`;
}

/** What is done to a resource, in which stack where that is another one, and each property's old and new value. Pure. */
export function operationLines({ op, type, name, stack, deleteFirst, properties = [] }: PlannedOperation, paint: Paint): string[] {
  const { sign, tone } = SIGNS[op];
  const elsewhere = stack === undefined ? '' : `, in stack ${stack}`;
  const first = deleteFirst === true ? ', the old one first: a gap in traffic' : '';
  const changes = properties.map(({ path, old, new: next }) => `      ${path}: ${old ?? '(absent)'} -> ${next ?? '(absent)'}`);
  return [`  ${paint(`${sign} ${op}`, tone)} ${type} ${name}${elsewhere}${first}`, ...changes];
}
