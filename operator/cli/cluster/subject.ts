import { CLOUD_INSTANCES, CLOUD_LOAD_BALANCERS, CLOUD_PROVIDERS, CLOUD_ROUTES, CLOUD_STACKS, type KindPath } from '../../../crds';
import { OperatorError } from '../../base/errors';
import { keyOf, NODES, SERVICES, type ObjectKey, type ResourcePath } from '../../kube/object';

/** An object that was named on the command line. */
export interface Subject {
  resource: ResourcePath;
  key: ObjectKey;
}

/** As kubectl knows them: short, singular and plural. */
const NAMES: [ResourcePath | KindPath, string[]][] = [
  [SERVICES, ['svc', 'service', 'services']],
  [NODES, ['no', 'node', 'nodes']],
  [CLOUD_LOAD_BALANCERS, ['clb', 'cloudloadbalancer', 'cloudloadbalancers']],
  [CLOUD_ROUTES, ['crt', 'cloudroute', 'cloudroutes']],
  [CLOUD_PROVIDERS, ['cp', 'cloudprovider', 'cloudproviders']],
  [CLOUD_STACKS, ['cst', 'cloudstack', 'cloudstacks']],
  [CLOUD_INSTANCES, ['ci', 'cloudinstance', 'cloudinstances']],
];

/**
 * Reads `NAME` or `KIND/NAME`. Pure.
 * @param kinds those that the command knows; a name alone is of the first
 * @throws OperatorError Invalid with the kinds that can be named
 */
export function subjectOf(text: string, kinds: readonly ResourcePath[], namespace: string): Subject {
  const at = text.indexOf('/');
  const name = text.slice(at + 1);
  const resource = at < 0 ? kinds[0] : kindOf(text.slice(0, at), kinds);
  const known = kinds.map(({ kind }) => kind.toLowerCase()).join(', ');
  if (resource === undefined) {
    const remedy = `known here: ${known}; another namespace is named with -n`;
    throw new OperatorError('Invalid', `"${text}": "${text.slice(0, at)}" is no kind that this command knows`, { remedy });
  }
  if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name)) {
    throw new OperatorError('Invalid', `"${text}" names no object; write NAME, or KIND/NAME with one of ${known}`);
  }
  return { resource, key: keyOf(resource.namespaced ? { name, namespace } : { name }) };
}

function kindOf(word: string, kinds: readonly ResourcePath[]): ResourcePath | undefined {
  const [plain] = word.toLowerCase().split('.'); // clb.cloud-operator.dev too
  const named = NAMES.find(([, names]) => names.includes(plain ?? ''))?.[0];
  return kinds.find(({ kind }) => kind === named?.kind);
}
