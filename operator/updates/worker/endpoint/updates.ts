import { OperatorError } from '../../../base/errors';
import type { Deployment } from '../../checkpoint';
import type { JournalEntry } from './journal-entry';
import { type EndpointContext, type EndpointRequest, type Route, STACK } from './router';
import { assertOwnStack, stackObject } from './stacks';

const UPDATE = `${STACK}/(?:update|preview)/[^/]+`;
/** The engine renews a lease of at most five minutes by itself. */
const LEASE_SECONDS = 300;

/** The life of one update. Its id and lease token mean nothing here: a worker runs one update at a time, under its process's token. */
export const updateRoutes: Route[] = [
  { method: 'POST', pattern: new RegExp(`^${STACK}/begin-update$`), handle: begin },
  { method: 'PATCH', pattern: new RegExp(`^${UPDATE}/checkpoint$`), handle: checkpoint },
  { method: 'PATCH', pattern: new RegExp(`^${UPDATE}/journalentries$`), handle: journal },
  // Events also come by the event stream, in time; these batches come late.
  { method: 'POST', pattern: new RegExp(`^${UPDATE}/events(?:/batch)?$`), handle: () => ({}) },
  { method: 'POST', pattern: new RegExp(`^${UPDATE}/complete$`), handle: complete },
  { method: 'POST', pattern: new RegExp(`^${UPDATE}/renew_lease$`), handle: renewLease },
];

function begin(request: EndpointRequest, context: EndpointContext): object {
  assertOwnStack(request, context);
  const { program } = request.body as { program?: { options?: { dryRun?: boolean } } };
  const journaled = context.session.begin(program?.options?.dryRun === true);
  const deployment = context.session.served(context.url);
  return {
    updateID: 'current',
    version: 1,
    token: context.leaseToken,
    tokenExpiration: Math.floor(Date.now() / 1000) + LEASE_SECONDS,
    // 0: a whole checkpoint after each step, which is as fast for small stacks.
    journalVersion: journaled ? 1 : 0,
    ...(deployment === undefined ? {} : { deployment }),
    stack: stackObject(context),
  };
}

async function checkpoint(request: EndpointRequest, context: EndpointContext): Promise<void> {
  assertOwnStack(request, context);
  const { isInvalid, version, features, deployment } = request.body as { isInvalid?: boolean } & Partial<Deployment>;
  if (isInvalid === true || version === undefined || deployment === undefined) {
    throw new OperatorError('Unknown', 'the engine sent a checkpoint that it calls invalid itself');
  }
  await context.session.checkpoint({ version, deployment, ...(features === undefined ? {} : { features }) });
}

async function journal(request: EndpointRequest, context: EndpointContext): Promise<void> {
  assertOwnStack(request, context);
  const { entries } = request.body as { entries?: JournalEntry[] };
  await context.session.journal(entries ?? []);
}

async function complete(request: EndpointRequest, context: EndpointContext): Promise<void> {
  assertOwnStack(request, context);
  const { status } = request.body as { status?: string };
  await context.session.complete(status === 'succeeded');
}

function renewLease(request: EndpointRequest, context: EndpointContext): object {
  assertOwnStack(request, context);
  if (context.session.refusal !== undefined) throw context.session.refusal;
  return { token: context.leaseToken, tokenExpiration: Math.floor(Date.now() / 1000) + LEASE_SECONDS };
}
