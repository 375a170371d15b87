import { OperatorError } from '../../base/errors';
import { type Deployment, toServed } from '../checkpoint';
import type { StackMetadata } from '../state/stack-record';
import type { StateStore, StoredStack } from '../state/state-store';
import { ORGANIZATION } from '../worker/endpoint/identity';
import { type EndpointRequest, type Route, STACK } from '../worker/endpoint/router';
import { decryptAll, decryptOne, SecretsCipher } from '../worker/endpoint/secrets';

/** What the reading handlers work with. */
export interface ReadContext {
  store: StateStore;
  /** Base address of this endpoint, for secrets in what is exported. */
  url: string;
}

/** What people's `pulumi` CLI asks to show stacks. Decrypting reads: whoever has the token was let in by somebody who may read the key. */
export const readRoutes: Route<ReadContext>[] = [
  { method: 'GET', pattern: /^\/api\/user\/stacks$/, handle: listStacks },
  { method: 'GET', pattern: new RegExp(`^${STACK}$`), handle: getStack },
  { method: 'GET', pattern: new RegExp(`^${STACK}/export(?:/[0-9]+)?$`), handle: exportStack },
  // There is no history: the CloudStack shows the last attempts.
  { method: 'GET', pattern: new RegExp(`^${STACK}/updates$`), handle: () => ({ updates: [] }) },
  {
    method: 'POST',
    pattern: new RegExp(`^${STACK}/decrypt$`),
    handle: async (request, context) => decryptOne(request, await cipher(request, context)),
  },
  {
    method: 'POST',
    pattern: new RegExp(`^${STACK}/batch-decrypt$`),
    handle: async (request, context) => decryptAll(request, await cipher(request, context)),
  },
  { method: 'POST', pattern: new RegExp(`^${STACK}/decrypt/log-(?:batch-)?decryption$`), handle: () => ({}) },
];

async function listStacks(_request: EndpointRequest, { store }: ReadContext): Promise<object> {
  const { stacks } = await store.list();
  return { stacks: stacks.map(summaryOf) };
}

function summaryOf({ project, stack, updatedAt, resourceCount }: StackMetadata): object {
  const lastUpdate = Math.floor(Date.parse(updatedAt) / 1000);
  return { orgName: ORGANIZATION, projectName: project, stackName: stack, lastUpdate, resourceCount };
}

async function getStack(request: EndpointRequest, context: ReadContext): Promise<object> {
  const { record } = await stored(request, context);
  const names = { orgName: ORGANIZATION, projectName: record.project, stackName: record.stack };
  return { ...names, activeUpdate: '', tags: {}, version: record.revision };
}

async function exportStack(request: EndpointRequest, context: ReadContext): Promise<Deployment> {
  const { record } = await stored(request, context);
  return record.checkpoint === null ? { version: 3, deployment: null } : toServed(record.checkpoint, context.url);
}

async function cipher(request: EndpointRequest, context: ReadContext): Promise<SecretsCipher> {
  const { record } = await stored(request, context);
  return new SecretsCipher(await context.store.keyring(), record.stack);
}

async function stored({ params: [project = '', stack = ''] }: EndpointRequest, { store }: ReadContext): Promise<StoredStack> {
  const found = await store.read(decodeURIComponent(stack));
  if (found !== undefined && found.record.project === decodeURIComponent(project)) return found;
  throw new OperatorError('NotFound', `Not Found: there is no stack ${project}/${stack}`);
}
