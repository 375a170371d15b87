import { OperatorError } from '../../../base/errors';
import { ORGANIZATION } from './identity';
import { type EndpointContext, type EndpointRequest, type Route, STACK } from './router';

/** Reading a stack. */
export const stackRoutes: Route[] = [
  { method: 'GET', pattern: new RegExp(`^${STACK}$`), handle: getStack },
  { method: 'GET', pattern: new RegExp(`^${STACK}/export$`), handle: exportStack },
];

/** The stack object of answers (apitype.Stack). */
export function stackObject({ session }: EndpointContext): object {
  const { project, stack } = session.request;
  return { orgName: ORGANIZATION, projectName: project, stackName: stack, activeUpdate: '', tags: {}, version: 1 };
}

/** Refuses requests for other stacks than the one that is being updated. */
export function assertOwnStack({ params: [project, stack] }: EndpointRequest, { session }: EndpointContext): void {
  const own = session.request;
  if (decodeURIComponent(project ?? '') === own.project && decodeURIComponent(stack ?? '') === own.stack) return;
  throw new OperatorError('NotFound', `Not Found: stack ${project}/${stack} is not the one being updated`);
}

function getStack(request: EndpointRequest, context: EndpointContext): object {
  assertOwnStack(request, context);
  return stackObject(context);
}

function exportStack(request: EndpointRequest, context: EndpointContext): object {
  assertOwnStack(request, context);
  return context.session.served(context.url) ?? { version: 3, deployment: null };
}
