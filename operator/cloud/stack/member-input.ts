/** What a stack's program gets of one member: JSON. The last one that an update succeeded with is the member's accepted input. */
export interface MemberInput {
  uid: string;
  name: string;
  namespace?: string;
  /** By which the cloud's marks name it; absent = by its own UID. */
  ownerUID?: string;
}

/** namespace/name of an input's object. */
export function keyOfInput({ namespace, name }: MemberInput): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}
