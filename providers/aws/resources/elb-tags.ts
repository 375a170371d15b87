import { OperatorError } from '../../../operator/base/errors';
import { fromAwsTags, tagChanges, toAwsTags, type Tags } from '../tags';
import type { Api, Listed } from './description';

/** The same resources with their tags. What goes in between is left out. */
export async function withTags<Raw>(items: readonly Raw[], arnOf: (item: Raw) => string | undefined, api: Api): Promise<Listed<Raw>[]> {
  const tags = await api.elb.tags(
    items.map((item) => arnOf(item) ?? ''),
    api.options,
  );
  return items.map((raw) => {
    const id = arnOf(raw) ?? '';
    const found = Object.entries(tags.get(id) ?? {}).map(([Key, Value]) => ({ Key, Value }));
    return { id, raw, tags: fromAwsTags(found) };
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
