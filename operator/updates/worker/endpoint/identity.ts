import type { Route } from './router';

export const ORGANIZATION = 'organization';

/**
 * What the service can do. Left out on purpose: delta checkpoints (they lose pending operations), policies, stack outputs, assistants.
 */
const CAPABILITIES = [
  { capability: 'begin-update', version: 1, configuration: {} },
  { capability: 'batch-encrypt', version: 1, configuration: {} },
  { capability: 'deployment-schema-version', version: 1, configuration: { version: 4 } },
];

/** Who the CLI is and what the service offers: asked by every command. */
export const identityRoutes: Route<unknown>[] = [
  { method: 'GET', pattern: /^\/api\/capabilities$/, handle: () => ({ capabilities: CAPABILITIES }) },
  { method: 'GET', pattern: /^\/api\/user$/, handle: user },
  { method: 'GET', pattern: /^\/api\/user\/organizations\/default$/, handle: () => ({ gitHubLogin: ORGANIZATION }) },
];

function user(): object {
  return { githubLogin: 'cloud-operator', name: 'cloud-operator', organizations: [{ githubLogin: ORGANIZATION, name: ORGANIZATION }] };
}
