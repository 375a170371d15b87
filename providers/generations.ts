import type { LoadBalancerInput, RecognizedLoadBalancer } from './provider';

/** One generation of a load balancer. */
export interface Generation {
  input: LoadBalancerInput;
  /** It is an earlier one, which goes soon. */
  retiring: boolean;
}

/** Every generation that is to be in the cloud. Pure. */
export function generationsOf(inputs: readonly LoadBalancerInput[]): Generation[] {
  return inputs.flatMap(({ retiring, ...input }) => [
    { input, retiring: false },
    ...(retiring === undefined ? [] : [{ input: retiring.input, retiring: true }]),
  ]);
}

/** What is rendered of a generation beside its spec: nothing for one that was never replaced. Pure. */
export function marksOf({ input, retiring }: Generation): { afterMembers?: true; retiring?: true } {
  return { ...((input.generation ?? 0) > 0 && { afterMembers: true }), ...(retiring && { retiring: true }) };
}

/**
 * The newest generation that has points of entry: of one whose update did not end there may be only a part. Pure.
 * @param generations those of which there is something, at least one
 */
export function servingGeneration(
  generations: readonly number[],
  entriesOf: (generation: number) => RecognizedLoadBalancer['ingress'],
): Pick<RecognizedLoadBalancer, 'generation' | 'ingress'> {
  const newestFirst = [...new Set(generations)].sort((a, b) => b - a);
  const all = newestFirst.map((generation) => ({ generation, ingress: entriesOf(generation) }));
  return all.find(({ ingress }) => ingress.length > 0) ?? { generation: newestFirst[0] ?? 0, ingress: [] };
}

/** Which generation of `base` a resource's name in the program belongs to; undefined where it is another load balancer's. Pure. */
export function generationOfName(name: string, base: (generation: number) => string): number | undefined {
  const generation = Number(/-g([0-9]+)(?:-|$)/.exec(name)?.[1] ?? 0);
  const own = base(generation);
  return name === own || name.startsWith(`${own}-`) ? generation : undefined;
}
