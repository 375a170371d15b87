import { ANNOTATIONS } from '../../../crds';
import type { KubeObject } from '../../kube/object';

export interface ApprovalMessage {
  stack: string;
  object: KubeObject;
  hash: string;
  summary: string;
  why: string;
  /** What the annotation says now. */
  given: string | undefined;
  /** Why it waits even when it is approved. */
  closed?: string | undefined;
}

/** What a person is told whose change waits: why, what it does, and how to approve it. Pure. */
export function approvalMessage({ stack, object, hash, summary, why, given, closed }: ApprovalMessage): string {
  const { name, namespace } = object.metadata;
  const where = namespace === undefined ? '' : ` -n ${namespace}`;
  const kind = (object.kind ?? 'cloudloadbalancer').toLowerCase();
  const other = given === undefined || given === '' ? '' : ` The annotation approves ${given}, which is not this plan.`;
  return [
    `Plan ${hash} waits for approval, since ${why}: ${summary}.${other}`,
    ...(closed === undefined ? [] : [`Once approved, it waits: ${closed}.`]),
    `To see all of it: kubectl get cloudstack ${stack} -o yaml.`,
    `To approve it: kubectl annotate ${kind}${where} ${name} --overwrite ${ANNOTATIONS.approve}=${hash}`,
  ].join(' ');
}

/** What `approvalMessage` says of a plan. */
export interface SaidPlan {
  stack: string;
  hash: string;
  /** Why it waits, and what it does. */
  reason: string;
}

const SAID =
  /\bPlan (?<hash>\S+) waits for approval, since (?<reason>.*?)\. (?:(?:The annotation|Once approved).*? )*To see all of it: kubectl get cloudstack (?<stack>\S+) /s;

/** The plan that a condition tells of; undefined = it tells of none. Pure. */
export function planSaidIn(message: string): SaidPlan | undefined {
  const { stack, hash, reason } = SAID.exec(message)?.groups ?? {};
  return stack === undefined || hash === undefined || reason === undefined ? undefined : { stack, hash, reason };
}
