import type { Operation } from '../api';
import { invalid } from './api-failure';
import type { AnyResource } from './entry';

export interface Listed<T> {
  item: T;
  /** Grows with every creation; what a page token holds, so that paging stays right while others come and go. */
  order: number;
}

const DEFAULT_PAGE = 500;
const LARGEST_PAGE = 10_000;
const PARAMETERS = ['cluster', 'stack', 'name', 'pageSize', 'pageToken', 'view'];

/**
 * The filtered page of `listed` (oldest first) that the query asks for. Operations have no names and tags, so no filter finds them. Pure.
 * @throws ApiFailure InvalidArgument
 */
export function listPage<T extends AnyResource | Operation>(
  listed: Listed<T>[],
  query: URLSearchParams,
): { items: T[]; nextPageToken?: string } {
  for (const key of query.keys())
    if (!PARAMETERS.includes(key)) throw invalid(key, `there is no such parameter; use ${PARAMETERS.join(', ')}`);
  const size = pageSize(query.get('pageSize'));
  const after = afterOrder(query.get('pageToken'));
  const left = listed.filter(({ item, order }) => order > after && matches(item, query));
  const page = left.slice(0, size);
  const items = page.map(({ item }) => item);
  const last = page.at(-1);
  return left.length > size && last !== undefined ? { items, nextPageToken: tokenOf(last.order) } : { items };
}

function matches(item: AnyResource | Operation, query: URLSearchParams): boolean {
  const facts: Record<string, string | undefined> =
    'tags' in item ? { cluster: item.tags.clusterID, stack: item.tags.stack, name: item.name } : {};
  return ['cluster', 'stack', 'name'].every((filter) => {
    const wanted = query.get(filter);
    return wanted === null || wanted === facts[filter];
  });
}

function pageSize(text: string | null): number {
  if (text === null) return DEFAULT_PAGE;
  const size = Number(text);
  if (!Number.isInteger(size) || size < 1 || size > LARGEST_PAGE)
    throw invalid('pageSize', `must be a whole number from 1 to ${LARGEST_PAGE}`);
  return size;
}

function tokenOf(order: number): string {
  return Buffer.from(`after:${order}`).toString('base64url');
}

function afterOrder(token: string | null): number {
  if (token === null) return 0;
  const order = /^after:([0-9]{1,15})$/.exec(Buffer.from(token, 'base64url').toString())?.[1];
  if (order === undefined) throw invalid('pageToken', 'is not one that this cloud gave out');
  return Number(order);
}
