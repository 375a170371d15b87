import type { Clock } from '../base/clock';
import { canonicalJson } from '../base/json';
import type { RawApi } from '../kube/client';
import { TtlCache } from './ttl-cache';
import type { User } from './user';

const SUBJECT_ACCESS_REVIEWS = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
const ALL_POWERFUL = 'system:masters';

export interface AuthorizerOptions {
  /** Asked what somebody may do; absent = nothing but what follows. */
  api?: RawApi | undefined;
  alwaysAllowPaths: readonly string[];
  allowTtlMs: number;
  denyTtlMs: number;
  clock: Clock;
}

export interface Decision {
  allowed: boolean;
  reason?: string | undefined;
}

/** Decides whether a user may do a verb on a path: by the list of open paths, by group, else as the API server says. */
export class Authorizer {
  private readonly answers: TtlCache<Decision>;

  constructor(private readonly options: AuthorizerOptions) {
    this.answers = new TtlCache(options.clock);
  }

  /**
   * @param neverOpen the list of open paths does not count
   * @throws OperatorError when the API server can't be asked
   */
  async decide(user: User, verb: string, path: string, { neverOpen = false } = {}): Promise<Decision> {
    const { api, alwaysAllowPaths, allowTtlMs, denyTtlMs } = this.options;
    if ((!neverOpen && isOpen(path, alwaysAllowPaths)) || user.groups.includes(ALL_POWERFUL)) return { allowed: true };
    if (api === undefined) return { allowed: false };
    const { name, ...others } = user;
    const spec = { user: name, ...others, nonResourceAttributes: { path, verb } };
    const key = canonicalJson(spec);
    const known = this.answers.get(key);
    if (known !== undefined) return known;
    const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
    const { status } = (await api.raw('POST', SUBJECT_ACCESS_REVIEWS, { body })) as { status?: { allowed?: boolean; reason?: string } };
    const decision: Decision = { allowed: status?.allowed === true, reason: status?.reason };
    this.answers.set(key, decision, decision.allowed ? allowTtlMs : denyTtlMs);
    return decision;
  }
}

/** Exact, or below a prefix that ends in `*`; slashes at the ends don't count. */
export function isOpen(path: string, open: readonly string[]): boolean {
  const trim = (text: string): string => text.replace(/^\/+|\/+$/g, '');
  return open.some((entry) =>
    entry.endsWith('*') ? trim(path).startsWith(entry.slice(0, -1).replace(/^\/+/, '')) : trim(path) === trim(entry),
  );
}
