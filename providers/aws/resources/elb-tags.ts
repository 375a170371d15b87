import { OperatorError } from '../../../operator/base/errors';
import { fromAwsTags, tagChanges, toAwsTags, type Tags } from '../tags';
import type { Api, Listed } from './description';

/** The same resources with their tags. What has gone since is left out. */
export async function withTags<Raw>(items: readonly Raw[], arnOf: (item: Raw) => string | undefined, api: Api): Promise<Listed<Raw>[]> {
  const listed = items.map((raw) => ({ id: arnOf(raw) ?? '', raw }));
  const present = await api.elb.presentTags(
    listed.map(({ id }) => id),
    api.options,
  );
  return listed.flatMap(({ id, raw }) => {
    const tags = present.get(id);
    return tags === undefined ? [] : [{ id, raw, tags: fromAwsTags(Object.entries(tags).map(([Key, Value]) => ({ Key, Value }))) }];
  });
}

/** The tags of one load balancer, target group or listener; undefined = it is gone. */
export function elbTagsOf(arn: string, { elb, options }: Api): Promise<Tags | undefined> {
  return elb.tagsOf(arn, options);
}

/** Brings the tags of a load balancer, target group or listener to the wanted ones. */
export async function changeElbTags(arn: string, has: Tags, wanted: Tags, { elb, options }: Api): Promise<void> {
  const { set, remove } = tagChanges(has, wanted);
  if (Object.keys(set).length > 0) await elb.addTags({ ResourceArns: [arn], Tags: toAwsTags(set) }, options);
  if (remove.length > 0) await elb.removeTags({ ResourceArns: [arn], TagKeys: remove }, options);
}

/** A list by id of what may be gone. */
export async function emptyWhenGone<T>(listing: Promise<T[]>): Promise<T[]> {
  try {
    return await listing;
  } catch (error) {
    if (error instanceof OperatorError && error.code === 'NotFound') return [];
    throw error;
  }
}
