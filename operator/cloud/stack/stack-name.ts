import { hashJson } from '../../base/json';

const READABLE_LENGTH = 60;

/**
 * Name of the stack that carries a placement: readable for people, unique by the hash at its end.
 * Fits a Kubernetes object name and a Pulumi stack name (at most 100 of [a-z0-9.-]).
 * @param kind `lb` or `routes`
 * @param hint for people: namespace and name of what it carries
 * @param identity what makes it this stack and no other: provider and placement
 */
export function stackName(kind: 'lb' | 'routes', hint: string, identity: readonly string[]): string {
  const readable = hint
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, READABLE_LENGTH)
    .replace(/^-+|-+$/g, '');
  return [kind, readable, hashJson(identity).slice(0, 10)].filter((part) => part !== '').join('-');
}
