import type { RenderedMember } from '../load-balancers/render';
import { combinedRules } from './combined-rules';
import { familyOf, type WantedRule } from './security-rule';
import { wantedRules } from './wanted-rules';

/** What Nodes see as destinations. */
export interface Destinations {
  /** Addresses by the names of frontends; '' = there is none yet. */
  ofFrontends: Readonly<Record<string, string>>;
  /** Their own, for families without floating IP. */
  ofNodes: readonly string[];
}

/**
 * The rules that let clients in to all load balancers of a stack. To the frontend of one of them nobody else lets in: an additional address is one in
 * front of the load balancers, or it would open what the other one keeps closed. Pure.
 */
export function rulesOfStack(
  members: readonly Pick<RenderedMember, 'access' | 'frontends' | 'nodeFamilies'>[],
  { ofFrontends, ofNodes }: Destinations,
): WantedRule[] {
  const all = new Set(Object.values(ofFrontends));
  const rules = members.flatMap(({ access, frontends, nodeFamilies }) => {
    const own = frontends.map((frontend) => ofFrontends[frontend] ?? '').filter((ip) => ip !== '');
    const seen = [
      ...own.filter((ip) => !nodeFamilies.includes(familyOf(ip))),
      ...ofNodes.filter((address) => nodeFamilies.includes(familyOf(address))),
    ];
    return wantedRules(
      access,
      seen,
      [...all].filter((ip) => !own.includes(ip)),
    );
  });
  return combinedRules(rules);
}
