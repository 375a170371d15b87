import { OperatorError } from '../../operator/base/errors';

/**
 * Our marks on everything that is made (design: Crashes and drift). They are part of the program's `tags`. Azure's keys have no slash
 * (learn.microsoft.com, "Use tags to organize your Azure resources").
 */
export const TAG = {
  clusterID: 'cloud-operator.dev-cluster-id',
  stack: 'cloud-operator.dev-stack',
  /** Name of the resource in the stack's program. */
  resource: 'cloud-operator.dev-resource',
  /** UID of the owner in Kubernetes. */
  ownerUID: 'cloud-operator.dev-owner-uid',
  /** namespace/name, for people. */
  owner: 'cloud-operator.dev-owner',
  /** What the operator has given up. */
  released: 'cloud-operator.dev-released',
  /** It was taken over: what can't be changed of it stays as it is, whatever the program says. */
  adopted: 'cloud-operator.dev-adopted',
  /** It was there before, without marks: ours is only a part of it, and it stays when that goes. */
  joined: 'cloud-operator.dev-joined',
  /** namespace/name of others that use a public address too, with commas: it stays until they go. More than a value holds stand in `…-users-2` and so on. */
  users: 'cloud-operator.dev-users',
  /** Keys that the program has set beside these, with commas: all others are somebody else's, and are let alone. More of them stand in `…-keys-2` and so on. */
  keys: 'cloud-operator.dev-keys',
} as const;

/** What stands before the keys of all of them. */
const OURS = 'cloud-operator.dev-';
const OF_KEYS = new RegExp(`^${TAG.keys}(-[0-9]+)?$`);
const OF_USERS = new RegExp(`^${TAG.users}(-[0-9]+)?$`);
/** Azure's most tags of a resource. */
const MOST_TAGS = 50;
/** Those of them for users. */
const MOST_USER_TAGS = 20;
/** An address that is released to those who use it, and to nobody else. */
const TO_USERS = 'to-users';
/** Upstream's mark of a public address: whose it is. */
export const SERVICE_TAG = 'k8s-azure-service';
/** Upstream's mark of a public address: of which cluster it is. */
export const CLUSTER_TAG = 'k8s-azure-cluster-name';
/** Upstream's mark of a public address: who has set its DNS label. */
export const DNS_LABEL_TAG = 'k8s-azure-dns-label-service';
/** Upstream's mark of a Private Link Service: the Service that has made it, and decides about it. */
export const OWNER_SERVICE_TAG = 'k8s-azure-owner-service';
/** Azure's longest value. */
const VALUE_LENGTH = 256;

export type Tags = Readonly<Record<string, string>>;

/**
 * Tags of a resource from several sources. For Azure keys that differ in letter case alone are one (learn.microsoft.com, "Use tags to organize your Azure
 * resources"); it then has the first spelling and the last value, as in cloud-provider-azure. Pure.
 * @param ours go before all others, as they are spelled
 */
export function mergedTags(ours: Tags, ...others: readonly (Tags | undefined)[]): Record<string, string> {
  const merged = new Map<string, readonly [string, string]>();
  for (const [key, value] of others.flatMap((tags = {}) => Object.entries(tags))) {
    const [spelled = key] = merged.get(key.toLowerCase()) ?? [];
    merged.set(key.toLowerCase(), [spelled, value]);
  }
  for (const tag of Object.entries(ours)) merged.set(tag[0].toLowerCase(), tag);
  return Object.fromEntries(merged.values());
}

/** Keys that stand behind another one which is for Azure the same, and that in words. Pure. */
export function twinKeys(tags: Tags = {}): { key: string; message: string }[] {
  const keys = Object.keys(tags);
  return keys.flatMap((key, index) => {
    const first = keys.findIndex((other) => other.toLowerCase() === key.toLowerCase());
    if (first === index) return [];
    return [{ key, message: `the keys ${keys[first]} and ${key} are one for Azure, which knows no letter case in them. Remove one.` }];
  });
}

/** Keys that upstream and we set on public addresses, so that who sets one of them is not heard; and that in words. Pure. */
export function overruledKeys(tags: Tags = {}): { key: string; message: string }[] {
  const keys = Object.keys(tags).filter((key) => [SERVICE_TAG, CLUSTER_TAG, DNS_LABEL_TAG].includes(key.toLowerCase()));
  return keys.map((key) => ({
    key,
    message: `the key ${key} is without effect: the operator sets it, as cloud-provider-azure does. Remove it.`,
  }));
}

/** Keys that are ours: who sets one of them on a resource says whose it is. Pure. */
export function reservedKeys(tags: Tags = {}): string[] {
  return Object.keys(tags).filter((key) => key.toLowerCase().startsWith(OURS));
}

/** Who made a resource: where its stack and its place in the program are found again. */
export interface Maker {
  clusterID: string;
  stack: string;
  /** Name of the resource in the program. */
  resource: string;
}

/** True when `maker` made the resource, by its tags, and it was not released since. Pure. */
export function madeBy({ clusterID, stack, resource }: Maker, tags: Tags): boolean {
  if (tags[TAG.released] !== undefined) return false;
  return tags[TAG.clusterID] === clusterID && tags[TAG.stack] === stack && tags[TAG.resource] === resource;
}

/** Who uses a public address beside the one that it was made for. Pure. */
export function usersOf(tags: Tags = {}): string[] {
  const ofUsers = Object.entries(tags).filter(([key]) => OF_USERS.test(key));
  return ofUsers.flatMap(([, names]) => names.split(',')).filter(Boolean);
}

/**
 * Tags that name these users, and no others. Upstream's mark names them too, behind the owner, as upstream does itself: it finds the address again on the
 * way back. Pure.
 * @throws OperatorError Quota when tags can't hold so many
 */
export function withUsers(tags: Tags, users: readonly string[]): Record<string, string> {
  const rest = Object.fromEntries(Object.entries(tags).filter(([key]) => !OF_USERS.test(key)));
  const before = usersOf(tags);
  if (users.length === 0 && before.length === 0) return rest;
  const values = inValues(users);
  if (values.length > MOST_USER_TAGS) {
    const remedy = 'Have fewer Services share it.';
    throw new OperatorError(
      'Quota',
      `a public IP address has room for ${MOST_USER_TAGS} tags with names of Services, and ${users.length} would share it. ${remedy}`,
      { remedy },
    );
  }
  const owners = isLeftToUsers(tags) ? [] : ownersIn(tags[SERVICE_TAG], before);
  const [services] = inValues([...owners, ...users]);
  return { ...rest, ...numbered(TAG.users, values), ...(services !== undefined && { [SERVICE_TAG]: services }) };
}

/** Names with commas, in as many values as they need. */
function inValues(names: readonly string[]): string[] {
  const values: string[] = [];
  for (const name of names) {
    const longer = `${values.at(-1) ?? ''},${name}`;
    if (values.length > 0 && longer.length <= VALUE_LENGTH) values[values.length - 1] = longer;
    else values.push(name);
  }
  return values;
}

/** A tag for each of them. */
function numbered(tag: string, values: readonly string[]): Record<string, string> {
  return Object.fromEntries(values.map((value, index) => [index === 0 ? tag : `${tag}-${index + 1}`, value]));
}

/** Whom upstream's mark names that is none of the users. */
function ownersIn(services = '', users: readonly string[]): string[] {
  return services.split(',').filter((name) => name !== '' && !users.includes(name));
}

/** Tags of an address whose owner goes, and that its users keep: no stack has it any more. Pure. */
export function leftToUsers(tags: Tags): Record<string, string> {
  return withUsers({ ...tags, [TAG.released]: TO_USERS }, usersOf(tags));
}

/** True for an address that only its users keep. Pure. */
export function isLeftToUsers(tags: Tags = {}): boolean {
  return tags[TAG.released] === TO_USERS;
}

/** What our own bookkeeping says of a resource, which an update leaves as it is. Pure. */
export function bookkeeping(tags: Tags = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(tags).filter(([key]) => isBookkeeping(key) && !OF_KEYS.test(key)));
}

/** Upstream's owner, in words; undefined = it has no tags of upstream's. Pure. */
function upstreamOf(tags: Tags): string | undefined {
  const { [CLUSTER_TAG]: cluster, [OWNER_SERVICE_TAG]: owner, [SERVICE_TAG]: services = owner } = tags;
  return services === undefined ? undefined : `another controller: Service ${services}, cluster ${cluster ?? '?'}`;
}

/** True for what upstream has made for the Service in a cluster of that name, or others share with it. Pure. */
export function isOfUpstream(tags: Tags, service: string, clusterName: string): boolean {
  const cluster = tags[CLUSTER_TAG] ?? clusterName;
  const services = tags[SERVICE_TAG] ?? tags[OWNER_SERVICE_TAG] ?? '';
  return isUnmarked(tags) && cluster === clusterName && services.split(',').includes(service);
}

/** True for what bears no cluster's mark. Pure. */
export function isUnmarked(tags: Tags): boolean {
  return tags[TAG.clusterID] === undefined;
}

/** Whose it is by its tags, in words. Pure. */
export function holderOf(tags: Tags): string {
  const { [TAG.clusterID]: clusterID, [TAG.stack]: stack = '?', [TAG.resource]: resource = '?' } = tags;
  if (clusterID === undefined) return upstreamOf(tags) ?? 'somebody else (it has no tags of ours)';
  return `${resource} of stack ${stack} of cluster ${clusterID}${tags[TAG.released] === undefined ? '' : ', which has released it'}`;
}

/**
 * A program's tags with the list of their keys, by which they are told from those that others add. Pure.
 * Where Azure has no room for the list it is left out, and all tags count as ours.
 */
export function withKeys(tags: Tags): Record<string, string> {
  const keys = Object.keys(tags);
  const values = inValues(keys.filter((key) => !key.startsWith(OURS)).sort());
  const isTooLong = values.some(({ length }) => length > VALUE_LENGTH) || keys.length + values.length > MOST_TAGS;
  return isTooLong ? { ...tags } : { ...tags, [TAG.keys]: '', ...numbered(TAG.keys, values) };
}

/** What the list says; undefined = there is none. One that is empty says that no key is ours, whatever is left of a longer one. */
function listedKeys(tags: Tags): string[] | undefined {
  const first = tags[TAG.keys];
  if (first === undefined) return undefined;
  if (first === '') return [];
  return Object.entries(tags).flatMap(([key, names]) => (OF_KEYS.test(key) ? names.split(',') : []));
}

/** Those of a resource's tags that a program has set, without the list, and spelled as it has them: Azure may write a key in another letter case. Pure. */
export function ownTags(tags: Tags = {}): Record<string, string> {
  const listed = listedKeys(tags);
  const keys = listed && new Map(listed.map((key) => [key.toLowerCase(), key]));
  const own = Object.entries(tags).flatMap(([key, value]): [string, string][] => {
    if (isBookkeeping(key)) return [];
    if (keys === undefined || key.startsWith(OURS)) return [[key, value]];
    const spelled = keys.get(key.toLowerCase());
    return spelled === undefined ? [] : [[spelled, value]];
  });
  const users = usersOf(tags);
  const said = own.map(
    ([key, value]) =>
      [key, key === SERVICE_TAG && users.length > 0 ? (ownersIn(value, users)[0] ?? value.split(',')[0] ?? '') : value] as const,
  );
  return Object.fromEntries(said.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** True for what no program sets. */
function isBookkeeping(key: string): boolean {
  return key === TAG.joined || OF_KEYS.test(key) || OF_USERS.test(key);
}

/** Those that somebody else has added. Pure. */
export function foreignTags(tags: Tags = {}): Record<string, string> {
  const own = new Set(Object.keys(ownTags(tags)).map((key) => key.toLowerCase()));
  return Object.fromEntries(Object.entries(tags).filter(([key]) => !own.has(key.toLowerCase()) && !isBookkeeping(key)));
}
