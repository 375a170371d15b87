import { CLOUD_LOAD_BALANCERS, CLOUD_ROUTES, CLOUD_STACKS, type PlannedOperation, type WaitingPlan } from '../../../crds';
import { planSaidIn } from '../../cloud/plan/approval-message';
import { keyOf, splitKey, type ResourcePath } from '../../kube/object';
import { listOurs, type Cluster } from './connect';
import type { StoredLoadBalancer, StoredRoute, StoredStack } from '../../explain/kinds';
import type { Tone } from '../../explain/object-state';
import type { Paint } from './output';

/** A plan, and the object that approves it. */
export interface FoundPlan extends WaitingPlan {
  stack: string;
  kind: 'CloudLoadBalancer' | 'CloudRoute';
}

/** All plans that wait, by their member: also those that their stack has no room for. */
export async function waitingPlans(cluster: Cluster): Promise<FoundPlan[]> {
  const stacks = await listOurs<StoredStack>(cluster, CLOUD_STACKS);
  const kinds = new Set(stacks.filter(omits).map((stack) => resourceOf({ kind: memberKind(stack) })));
  const lists = await Promise.all([...kinds].map((kind) => listOurs<StoredMember>(cluster, kind)));
  return plansOf(stacks, lists.flat());
}

type StoredMember = StoredLoadBalancer | StoredRoute;

/** @param members of the stacks that leave out plans. Pure. */
export function plansOf(stacks: readonly StoredStack[], members: readonly StoredMember[] = []): FoundPlan[] {
  const shown = stacks.flatMap((stack) =>
    (stack.status?.plans ?? []).map((plan): FoundPlan => ({ ...plan, stack: stack.metadata.name, kind: memberKind(stack) })),
  );
  const left = stacks.filter(omits).flatMap((stack) => leftOut(stack, members));
  return [...shown, ...left].sort((a, b) => (a.member < b.member ? -1 : 1));
}

function omits({ status }: StoredStack): boolean {
  return (status?.plansOmitted ?? 0) > 0;
}

function memberKind({ spec }: StoredStack): FoundPlan['kind'] {
  return spec.kind === 'Routes' ? 'CloudRoute' : 'CloudLoadBalancer';
}

/** The plans of a stack that it does not show, by the conditions of those that they are of. */
function leftOut(stack: StoredStack, members: readonly StoredMember[]): FoundPlan[] {
  const { name } = stack.metadata;
  const shown = new Set(stack.status?.plans?.map(({ member }) => member));
  return members.flatMap(({ metadata, status }): FoundPlan[] => {
    const member = keyOf(metadata);
    const said = (status?.conditions ?? []).map(({ message }) => planSaidIn(message)).find((one) => one?.stack === name);
    if (said === undefined || shown.has(member)) return [];
    return [{ ...said, member, kind: memberKind(stack), summary: `not among the plans that CloudStack ${name} shows`, operations: [] }];
  });
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
