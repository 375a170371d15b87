import { OperatorError } from '../../../operator/base/errors';
import type { ArmErrorBody } from './arm-error';

type Headers = Record<string, string | string[] | undefined>;

/** What came back for one request. */
export interface ArmAnswer<T = unknown> {
  status: number;
  headers: Headers;
  body: T;
}

/** One header's value; the first one where it stands there several times. Pure. */
export function headerOf({ headers }: Pick<ArmAnswer, 'headers'>, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/**
 * The body as JSON; undefined where there is none.
 * @throws OperatorError Transient on anything else: a proxy or a gateway has answered
 */
export function parseBody(text: string, status: number): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    // Some errors of gateways are HTML; their status says what they are.
    if (status >= 400) return undefined;
    throw new OperatorError('Transient', `the answer is not JSON: ${text.slice(0, 100)}`, { cause });
  }
}

/** The error in an answer; an empty one where it says none. Pure. */
export function errorIn({ body }: Pick<ArmAnswer, 'body'>): ArmErrorBody {
  const { error, code, message } = (body ?? {}) as { error?: ArmErrorBody | null } & ArmErrorBody;
  return error ?? { ...(code !== undefined && { code }), ...(message !== undefined && { message }) };
}

/** Retry-After as milliseconds: seconds, or a date. Pure. @param now wall clock, milliseconds */
export function retryAfterMs(answer: Pick<ArmAnswer, 'headers'>, now: number): number | undefined {
  const text = headerOf(answer, 'retry-after');
  if (text === undefined || text === '') return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const at = Date.parse(text);
  return Number.isFinite(at) ? Math.max(0, at - now) : undefined;
}

/** Where a resource provider says what its own limits still allow: `<provider>/<limit>;<calls>`, several times, in one header or more (learn.microsoft.com, "Troubleshooting API throttling errors"). */
const LEFT_OF_RESOURCE = 'x-ms-ratelimit-remaining-resource';

/** The fewest calls that any limit of the resource provider has left for such a call; undefined where the answer doesn't say. Pure. */
export function callsLeftOfResource({ headers }: Pick<ArmAnswer, 'headers'>): number | undefined {
  const said = [headers[LEFT_OF_RESOURCE] ?? []].flat().flatMap((text) => text.split(','));
  const left = said.flatMap((one) => /;\s*(\d+)\s*$/.exec(one)?.[1] ?? []).map(Number);
  return left.length === 0 ? undefined : Math.min(...left);
}

/** Headers that say how many calls the subscription still has (learn.microsoft.com, "Understand how Azure Resource Manager throttles requests"). */
const LEFT = /^x-ms-ratelimit-remaining-subscription-(?:global-)?(?:reads|writes|deletes)$/;

/** The fewest calls that any limit of the subscription has left; undefined where the answer doesn't say. Pure. */
export function callsLeft({ headers }: Pick<ArmAnswer, 'headers'>): number | undefined {
  const said = Object.entries(headers)
    .filter(([name]) => LEFT.test(name))
    .map(([, value]) => Number(value))
    .filter((left) => Number.isFinite(left));
  return said.length === 0 ? undefined : Math.min(...said);
}
