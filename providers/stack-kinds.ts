/** Whether load balancers or routes may be among the resources of stacks. */
export interface StackKinds {
  loadBalancers: boolean;
  routes: boolean;
}

/**
 * What stacks are about, by their names, which begin with it; one that begins otherwise may be about either. Pure.
 * @param stacks absent = all
 */
export function kindsOf(stacks: readonly string[] | undefined): StackKinds {
  const isAll = (prefix: string): boolean => stacks !== undefined && stacks.length > 0 && stacks.every((stack) => stack.startsWith(prefix));
  return { loadBalancers: !isAll('routes-'), routes: !isAll('lb-') };
}
