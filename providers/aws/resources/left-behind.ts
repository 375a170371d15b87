import { OperatorError } from '../../../operator/base/errors';
import type { ResourceType } from '../../resource-provider/resource-provider';

/**
 * A type of what was left behind: no program has one, and all that can be done is to delete it.
 * @param idOutput the output that holds its id
 */
export function leftBehind(token: string, idOutput: string, remove: ResourceType['delete']): ResourceType {
  const refuse = (): Promise<never> => Promise.reject(new OperatorError('Invalid', `${token} is only ever deleted`));
  return {
    token,
    replaceOn: [],
    create: refuse,
    read: (id) => Promise.resolve({ inputs: {}, outputs: { [idOutput]: id } }),
    update: refuse,
    delete: remove,
  };
}
