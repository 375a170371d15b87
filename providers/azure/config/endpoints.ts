import { request, type Dispatcher } from 'undici';
import { OperatorError, toOperatorError } from '../../../operator/base/errors';
import { endpointsIn, endpointsOf, metadataURL, type CloudEndpoints } from '../client/clouds';

const TIMEOUT_MS = 10_000;

/** What says which cloud of Azure's it is. */
export interface CloudChoice {
  cloud?: string | undefined;
  /** Goes before `cloud`: the resource manager is asked where the rest is. */
  resourceManagerEndpoint?: string | undefined;
}

/**
 * Where a cloud's endpoints are.
 * @throws OperatorError Invalid where there is no such cloud, Transient where its resource manager does not answer
 */
export async function findEndpoints(
  { cloud = '', resourceManagerEndpoint: at }: CloudChoice,
  dispatcher?: Dispatcher,
): Promise<CloudEndpoints> {
  if (at === undefined) return endpointsOf(cloud);
  const url = metadataURL(at);
  const answer = await request(url, {
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    ...(dispatcher !== undefined && { dispatcher }),
  }).catch((cause: unknown) => {
    const remedy = 'Check resourceManagerEndpoint, and the way to it.';
    const { code, message } = toOperatorError(cause);
    throw new OperatorError(code, `${url} does not answer: ${message}. ${remedy}`, { cause, remedy, field: 'resourceManagerEndpoint' });
  });
  return endpointsIn(await answer.body.json().catch(() => undefined), at);
}
