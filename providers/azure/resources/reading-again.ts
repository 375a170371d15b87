import type { OperatorError } from '../../../operator/base/errors';
import type { UpdateContext } from '../../worker-module';
import { isOvertaken, isWorthReadingAgain } from '../client/arm-error';

/**
 * What decides whether a read and the write that depends on it are tried again (retry). That somebody else has written in between is said: two who write
 * the same again and again are found by that, though nothing of either is lost. @param id of the resource
 */
export function readingAgain(id: string, { remark }: Pick<UpdateContext, 'remark'>): (error: OperatorError) => boolean {
  return (error) => {
    if (isOvertaken(error)) remark?.(`Somebody else has written ${id} at the same time. It was read again, and nothing of theirs is lost`);
    return isWorthReadingAgain(error);
  };
}
