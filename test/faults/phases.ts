import type { Phase } from './kinds';
import type { Exchange, Moment } from './proxy';

/** Who writes to the cloud for updates: the workers. */
const WORKER = 'cloud-operator-update';

interface Meeting {
  exchange: Exchange;
  moment: Moment;
  /** The moment at which phases are met that are one request: before it goes out, or before its answer arrives. */
  held: Moment;
}

/** `queued` is not an exchange: it is the moment at which a change has been made. */
const MEETINGS: Record<Phase, (meeting: Meeting) => boolean> = {
  queued: () => false,
  started: ({ exchange, moment, held }) =>
    moment === held && isStatusOf('cloudstacks', exchange) && exchange.body.includes('"result":"Running"'),
  'before-write': ({ exchange, moment }) => moment === 'request' && isUpdateWrite(exchange),
  'after-write': ({ exchange, moment }) => moment === 'answered' && isUpdateWrite(exchange),
  answer: ({ exchange, moment }) => moment === 'delivered' && isUpdateWrite(exchange),
  checkpoint: ({ exchange, moment, held }) => moment === held && isStateWrite(exchange) && isOpen(exchange),
  complete: ({ exchange, moment, held }) => moment === held && isStateWrite(exchange) && !isOpen(exchange),
  members: ({ exchange, moment, held }) => moment === held && isMembersWrite(exchange),
  status: ({ exchange, moment, held }) =>
    moment === held && (isStatusOf('services', exchange) || isStatusOf('cloudloadbalancers', exchange)),
  delete: ({ exchange, moment, held }) => moment === held && exchange.side === 'cloud' && exchange.method === 'DELETE',
};

/** True when an exchange is at a phase. @param early of phases that are one request: before it goes out, not before its answer arrives */
export function isAt(phase: Phase, exchange: Exchange, moment: Moment, early: boolean): boolean {
  return MEETINGS[phase]({ exchange, moment, held: early ? 'request' : 'answered' });
}

/** A write to the cloud, whoever makes it. */
export function isCloudWrite({ side, method }: Exchange): boolean {
  return side === 'cloud' && method !== 'GET';
}

/** A write of a stack's state. */
export function isStateWrite({ side, method, path, body }: Exchange): boolean {
  return (
    side === 'api' &&
    (method === 'POST' || method === 'PATCH') &&
    path.includes('/secrets') &&
    body.includes('cloud-operator.dev/state-format')
  );
}

export function isMembersWrite({ side, method, path }: Exchange): boolean {
  return side === 'cloud' && method === 'PUT' && path.endsWith('/targets');
}

function isOpen({ body }: Exchange): boolean {
  return body.includes('"cloud-operator.dev/open":"true"');
}

function isUpdateWrite({ side, method, caller }: Exchange): boolean {
  return side === 'cloud' && caller === WORKER && (method === 'POST' || method === 'PATCH');
}

function isStatusOf(plural: string, { side, method, path }: Exchange): boolean {
  return side === 'api' && method === 'PATCH' && path.includes(`/${plural}/`) && path.endsWith('/status');
}
