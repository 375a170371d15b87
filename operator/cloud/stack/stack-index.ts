import type { Store } from '../../kube/api';
import type { KubeObject } from '../../kube/object';
import { isConnected, type CloudRegistry } from '../providers/registry';
import type { Member } from './stack-kind';

/**
 * Which objects a stack carries. An object has one stack that its spec asks for; after a change of provider or placement, the stacks that had it
 * before are remembered too, until they have given it up (design: until the switch the object belongs to both stacks).
 */
export class StackIndex {
  private readonly stackByKey = new Map<string, string>();
  private readonly keysByStack = new Map<string, Set<string>>();
  /** Objects that a stack may still have though they ask for another one, by stack, with the generation in that one of which the stack was told. */
  private readonly formerKeys = new Map<string, Map<string, number | undefined>>();

  /**
   * Records that the object asks for `stack`, or for none.
   * @returns the stacks that this changes: the one left and the one entered
   */
  assign(key: string, stack: string | undefined): string[] {
    const before = this.stackByKey.get(key);
    if (before !== undefined && before !== stack) {
      this.stackByKey.delete(key);
      remove(this.keysByStack, before, key);
      if (stack !== undefined) this.remember(key, before);
    }
    if (stack !== undefined) {
      this.stackByKey.set(key, stack);
      add(this.keysByStack, stack, key);
      this.release(key, stack);
    }
    return [...new Set([before, stack])].filter((name) => name !== undefined);
  }

  /** The object is gone. @returns the stacks that had it */
  forget(key: string): string[] {
    const formers = this.formersOf(key);
    formers.forEach((stack) => this.release(key, stack));
    return [...this.assign(key, undefined), ...formers];
  }

  /** A stack has, or may have, the object. */
  remember(key: string, stack: string): void {
    if (this.stackByKey.get(key) === stack || this.formerKeys.get(stack)?.has(key) === true) return;
    this.formerKeys.set(stack, (this.formerKeys.get(stack) ?? new Map<string, number | undefined>()).set(key, undefined));
  }

  /**
   * The stack has this generation of the object.
   * @returns the stacks that had it before and have not been told of that yet; by this they are. None where the object asks for another stack by now: they are not to learn
   * from this one that it was made
   */
  tell(stack: string, key: string, generation: number): string[] {
    if (this.stackByKey.get(key) !== stack) return [];
    const untold = [...this.formerKeys].filter(([, keys]) => keys.has(key) && keys.get(key) !== generation);
    untold.forEach(([, keys]) => keys.set(key, generation));
    return untold.map(([stack]) => stack).sort();
  }

  /** A stack that had the object before has nothing of it any more. */
  release(key: string, stack: string): void {
    remove(this.formerKeys, stack, key);
  }

  stackOf(key: string): string | undefined {
    return this.stackByKey.get(key);
  }

  /** Those that ask for the stack. */
  keys(stack: string): string[] {
    return [...(this.keysByStack.get(stack) ?? [])].sort();
  }

  /** How many ask for the stack, or had it before and may still be in it. */
  sizeOf(stack: string): number {
    return (this.keysByStack.get(stack)?.size ?? 0) + (this.formerKeys.get(stack)?.size ?? 0);
  }

  /** Those that the stack had before, and may still have. */
  formersIn(stack: string): string[] {
    return [...(this.formerKeys.get(stack)?.keys() ?? [])].sort();
  }

  /** Stacks that had the object before, and may still have it. */
  formersOf(key: string): string[] {
    return [...this.formerKeys].flatMap(([stack, keys]) => (keys.has(key) ? [stack] : [])).sort();
  }

  /** All that carry something. */
  stacks(): string[] {
    return [...new Set([...this.keysByStack.keys(), ...this.formerKeys.keys()])].sort();
  }

  has(stack: string): boolean {
    return this.keysByStack.has(stack) || this.formerKeys.has(stack);
  }
}

function add(sets: Map<string, Set<string>>, name: string, key: string): void {
  sets.set(name, (sets.get(name) ?? new Set<string>()).add(key));
}

function remove(sets: Map<string, Set<string> | Map<string, unknown>>, name: string, key: string): void {
  const keys = sets.get(name);
  keys?.delete(key);
  if (keys?.size === 0) sets.delete(name);
}

/**
 * The CloudProvider of a stack that has no record yet. A member may name another one by now in which no stack can be found for it: it stays, and says
 * nothing of the others' cloud where one of them can be used.
 */
export function providerAmong(members: readonly Member[], registry: Pick<CloudRegistry, 'get'>): string | undefined {
  const named = members.map(({ spec }) => spec.provider);
  return named.find((provider) => isConnected(registry.get(provider))) ?? named[0];
}

/** The objects that ask for a stack, as far as they are there. */
export function membersOf<O extends KubeObject>(index: StackIndex, store: Pick<Store<O>, 'get'>, stack: string): O[] {
  return index
    .keys(stack)
    .map((key) => store.get(key))
    .filter((object) => object !== undefined);
}
