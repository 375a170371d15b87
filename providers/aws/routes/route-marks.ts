import type { Instance } from '@aws-sdk/client-ec2';

/**
 * AWS lets no one mark a route, so the instance that it leads to bears the mark: the key says which route of which table it is, the value whose.
 */
export const ROUTE_MARK_PREFIX = 'cloud-operator.dev/route/';

/** The place of a route: a table has one to each destination. */
export interface RoutePlace {
  routeTableID: string;
  destination: string;
}

/** Whose a route is: where its stack and its place in the program are found again. */
export interface RouteMaker {
  clusterID: string;
  stack: string;
  /** Name of its resources in the program. */
  resource: string;
}

export type RouteMark = RoutePlace & RouteMaker;

/** As a tag of an instance: at most 128 and 256 characters, as AWS wants them. Pure. */
export function tagOfMark({ routeTableID, destination, clusterID, stack, resource }: RouteMark): { Key: string; Value: string } {
  return { Key: `${ROUTE_MARK_PREFIX}${routeTableID}/${destination}`, Value: `${clusterID} ${stack} ${resource}` };
}

/** All marks that an instance bears. Pure. */
export function marksOf({ Tags = [] }: Pick<Instance, 'Tags'>): RouteMark[] {
  return Tags.flatMap(({ Key = '', Value = '' }) => {
    const place = Key.startsWith(ROUTE_MARK_PREFIX) ? /^([^/]+)\/(.+)$/.exec(Key.slice(ROUTE_MARK_PREFIX.length)) : null;
    const maker = /^(\S+) (\S+) (\S+)$/.exec(Value);
    if (place === null || maker === null) return [];
    const [[, routeTableID = '', destination = ''], [, clusterID = '', stack = '', resource = '']] = [place, maker];
    return [{ routeTableID, destination, clusterID, stack, resource }];
  });
}
