import { z } from 'zod';
import type { ApiError, Collection, FaultRule, FaultStatus } from '../api';
import { ApiFailure, invalid } from './api-failure';
import { seededRandom } from './random';
import { parse } from './schema';

export type Verb = NonNullable<FaultRule['match']['verb']>;

/** What rules look at. */
export interface CallFacts {
  verb: Verb;
  collection: Collection;
  /** Name of the resource, or of the `name` filter of a list. */
  name?: string;
  caller: string;
}

/** How one call is to go wrong. */
export interface Verdict {
  delayMs?: number;
  refusal?: ApiFailure;
  /** Throws once the collection holds too many. */
  quota?: (living: number) => void;
  loseResponse?: boolean;
  stuckPending?: boolean;
  listLagMs?: number;
  crash?: Extract<FaultRule['act'], { crash: unknown }>['crash'];
}

interface ArmedRule {
  rule: FaultRule;
  name?: RegExp;
  matched: number;
  acted: number;
  bucket?: { tokens: number; at: number };
}

const codes = z.enum([
  'Unauthorized',
  'Forbidden',
  'NotFound',
  'NameTaken',
  'InUse',
  'EtagMismatch',
  'Throttled',
  'QuotaExceeded',
  'InvalidArgument',
  'AddressInUse',
  'TokenMismatch',
  'Unavailable',
  'Internal',
] satisfies ApiError['code'][]);

const duration = z.number().min(0).max(3_600_000);

const act = z.union([
  z.strictObject({ latencyMs: z.strictObject({ min: duration, max: duration }) }),
  z.strictObject({ status: z.int().min(400).max(599), code: codes, retryAfterMs: duration.exactOptional() }),
  z.strictObject({ throttle: z.strictObject({ rps: z.number().positive(), burst: z.number().min(1) }) }),
  z.strictObject({ quota: z.strictObject({ max: z.int().min(0) }) }),
  z.strictObject({ loseResponse: z.literal(true) }),
  z.strictObject({ stuckPending: z.literal(true) }),
  z.strictObject({ listLagMs: duration }),
  z.strictObject({ crash: z.enum(['before-journal', 'torn-journal', 'journal', 'dataplane']) }),
]);

const rule = z.strictObject({
  match: z.strictObject({
    verb: z.enum(['create', 'get', 'list', 'update', 'delete', 'targets']).exactOptional(),
    collection: z.enum(['instances', 'addresses', 'loadbalancers', 'pools', 'routetables', 'routes', 'operations']).exactOptional(),
    nameRegex: z.string().max(256).exactOptional(),
    caller: z.string().exactOptional(),
  }),
  times: z.int().min(1).exactOptional(),
  probability: z.number().min(0).max(1).exactOptional(),
  after: z.int().min(0).exactOptional(),
  act,
});

const faultRules = z.strictObject({ seed: z.int().min(0).exactOptional(), rules: z.array(rule).max(100) });

const DEFAULT_SEED = 1;

/** The fault rules: for each call the first rule acts that matches and is due. */
export class Faults {
  private rules: ArmedRule[] = [];
  private seed = DEFAULT_SEED;
  private random = seededRandom(DEFAULT_SEED);

  /** @param now monotonic milliseconds, for throttles */
  constructor(private readonly now: () => number) {}

  /**
   * Replaces all rules and starts their counts and the generator anew.
   * @throws ApiFailure InvalidArgument
   */
  set(body: unknown): FaultStatus {
    const parsed = parse(faultRules, body);
    this.rules = parsed.rules.map((one, index) => arm(one, index));
    this.seed = parsed.seed ?? DEFAULT_SEED;
    this.random = seededRandom(this.seed);
    return this.status();
  }

  status(): FaultStatus {
    return { seed: this.seed, rules: this.rules.map(({ rule: one, matched, acted }) => ({ ...one, matched, acted })) };
  }

  /** The longest lag that a rule may ask for: so long the past is kept. */
  get longestLagMs(): number {
    return Math.max(0, ...this.rules.map((armed) => ('listLagMs' in armed.rule.act ? armed.rule.act.listLagMs : 0)));
  }

  /** Says how this call goes wrong, and counts it. */
  decide(call: CallFacts): Verdict {
    for (const armed of this.rules) {
      if (!matches(armed, call)) continue;
      armed.matched++;
      if (!this.due(armed)) continue;
      const verdict = this.judge(armed);
      if (verdict === undefined) continue;
      // A quota counts when it refuses.
      if (verdict.quota === undefined) armed.acted++;
      return verdict;
    }
    return {};
  }

  private due({ rule: { after, times, probability }, matched, acted }: ArmedRule): boolean {
    if (matched <= (after ?? 0)) return false;
    if (times !== undefined && acted >= times) return false;
    return probability === undefined || this.random() < probability;
  }

  private judge(armed: ArmedRule): Verdict | undefined {
    const what = armed.rule.act;
    if ('latencyMs' in what) return { delayMs: what.latencyMs.min + this.random() * (what.latencyMs.max - what.latencyMs.min) };
    if ('status' in what) return { refusal: refusal(what) };
    if ('throttle' in what) return this.throttle(armed, what.throttle);
    if ('quota' in what) return { quota: (living) => refuseOver(what.quota.max, living, armed) };
    if ('loseResponse' in what) return { loseResponse: true };
    if ('stuckPending' in what) return { stuckPending: true };
    if ('listLagMs' in what) return { listLagMs: what.listLagMs };
    return { crash: what.crash };
  }

  /** A token bucket; undefined = let through. */
  private throttle(armed: ArmedRule, { rps, burst }: { rps: number; burst: number }): Verdict | undefined {
    const now = this.now();
    const bucket = (armed.bucket ??= { tokens: burst, at: now });
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1000) * rps);
    bucket.at = now;
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return undefined;
    }
    // Rounding must not add a millisecond to a wait that is a whole number of them.
    const retryAfterMs = Math.ceil(((1 - bucket.tokens) / rps) * 1000 - 1e-6);
    return { refusal: new ApiFailure('Throttled', `more than ${rps} calls a second`, { retryAfterMs }) };
  }
}

function arm(one: FaultRule, index: number): ArmedRule {
  const { nameRegex } = one.match;
  if ('latencyMs' in one.act && one.act.latencyMs.min > one.act.latencyMs.max) {
    throw invalid(`rules[${index}].act.latencyMs`, 'min is greater than max');
  }
  if (nameRegex === undefined) return { rule: one, matched: 0, acted: 0 };
  try {
    return { rule: one, name: new RegExp(nameRegex), matched: 0, acted: 0 };
  } catch (error) {
    throw invalid(`rules[${index}].match.nameRegex`, error instanceof Error ? error.message : String(error));
  }
}

function matches({ rule: { match }, name }: ArmedRule, call: CallFacts): boolean {
  if (match.verb !== undefined && match.verb !== call.verb) return false;
  if (match.collection !== undefined && match.collection !== call.collection) return false;
  if (match.caller !== undefined && match.caller !== call.caller) return false;
  return name === undefined || (call.name !== undefined && name.test(call.name));
}

function refusal({ status, code, retryAfterMs }: { status: number; code: ApiError['code']; retryAfterMs?: number }): ApiFailure {
  return new ApiFailure(code, `fault rule: ${code}`, { status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
}

function refuseOver(max: number, living: number, armed: ArmedRule): void {
  if (living < max) return;
  armed.acted++;
  throw new ApiFailure('QuotaExceeded', `the quota is ${max}, and ${living} are there`);
}
