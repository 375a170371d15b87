import type { RawApi } from './kube/client';
import type { OperatorOptions } from './options';
import { controllerOf, permissions, type Permission } from './permissions';

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

/** The rows of the table that a process with these options needs. */
export function permissionsOf(options: OperatorOptions): Permission[] {
  const { namespace, stateStore, leaderElection, controllers, serviceAccountCredentials } = options;
  const [leaseNamespace = '', leaseName = ''] = leaderElection?.lease.split('/') ?? [];
  const second = leaderElection?.migration?.lease.split('/')[1];
  const stateNamespace = stateStore.kind === 'Cluster' ? stateStore.namespace : namespace;
  const leases = { namespace: leaseNamespace, name: leaseName, ...(second === undefined ? {} : { migration: second }) };
  const table = permissions({ namespace, stateNamespace, leaderElection: leases, serviceAccountCredentials });
  return table.filter(({ part }) => {
    if (part === 'updates') return stateStore.kind === 'Cluster';
    if (part === 'leader election') return leaderElection !== undefined;
    const controller = controllerOf({ part });
    return controller === undefined || controllers.has(controller);
  });
}

interface Attributes {
  group: string;
  resource: string;
  subresource?: string;
  verb: string;
  namespace?: string;
  name?: string;
}

/**
 * Asks the API server about every right of the table.
 * @returns what is missing, in words: `cloudstacks.cloud-operator.dev (list, watch)`; one entry for each resource, sorted
 * @throws OperatorError when it can't be asked
 */
export async function missingRules(api: RawApi, table: readonly Permission[]): Promise<string[]> {
  const asked = new Map(table.flatMap(attributesOf).map((one) => [JSON.stringify(one), one]));
  const answers = await Promise.all([...asked.values()].map(async (one) => ({ one, allowed: await isAllowed(api, one) })));
  const verbs = new Map<string, string[]>();
  for (const { one } of answers.filter(({ allowed }) => !allowed)) {
    const resource = inWords(one);
    verbs.set(resource, [...(verbs.get(resource) ?? []), one.verb]);
  }
  return [...verbs].map(([resource, missing]) => `${resource} (${missing.sort().join(', ')})`).sort();
}

async function isAllowed(api: RawApi, resourceAttributes: Attributes): Promise<boolean> {
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } };
  const answer = (await api.raw('POST', REVIEWS, { body })) as { status?: { allowed?: boolean } };
  return answer.status?.allowed === true;
}

function attributesOf({ group, resources, verbs, names, namespace }: Permission): Attributes[] {
  return resources.flatMap((path) => {
    const [resource = '', subresource] = path.split('/');
    const what = {
      group,
      resource,
      ...(subresource === undefined ? {} : { subresource }),
      ...(namespace === undefined ? {} : { namespace }),
    };
    return verbs.flatMap((verb) => (names ?? [undefined]).map((name) => ({ ...what, verb, ...(name === undefined ? {} : { name }) })));
  });
}

function inWords({ group, resource, subresource, namespace, name }: Attributes): string {
  const path = [resource + (group === '' ? '' : `.${group}`), ...(subresource === undefined ? [] : [subresource])].join('/');
  const named = name === undefined ? '' : ` ${JSON.stringify(name)}`;
  return `${path}${named}${namespace === undefined ? '' : ` in ${namespace}`}`;
}
