import type { LoadBalancerInput } from './provider';

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
