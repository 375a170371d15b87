import { OperatorError } from '../operator/base/errors';
import type { TargetGroup } from './provider';

/** Asked before each write of members. @throws OperatorError Canceled when this operator may not write any more */
export function assertMayWrite(signalValid: () => boolean, group: Pick<TargetGroup, 'id'>): void {
  if (!signalValid()) throw new OperatorError('Canceled', `members of ${group.id} are not written: this operator may not write any more`);
}
