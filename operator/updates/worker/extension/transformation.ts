import { AsyncLocalStorage } from 'node:async_hooks';
import { getProject, getStack, mergeOptions, type ResourceTransformationArgs, type ResourceTransformationResult } from '@pulumi/pulumi';
import type { Extension, LoadBalancer } from '../../../../extensions';
import { OperatorError } from '../../../base/errors';
import type { ExtensionModule } from '../../extension-module';
import { nameOf } from './load';
import { describeThrown } from './thrown';
import { within } from './time-limit';

const TRANSFORM_LIMIT_MS = 1_000;

export interface TransformationOptions {
  module: ExtensionModule;
  transform: NonNullable<Extension['transform']>;
  /** The load balancers that a resource of the program serves. */
  loadBalancersOf: (resource: { type: string; name: string; args: Record<string, unknown> }) => readonly LoadBalancer[];
  /** Type tokens that the provider's own resource provider serves; empty = it has none, and every type is allowed. */
  knownTypes: readonly string[];
}

type Args = Record<string, unknown>;

/** An extension's `transform` as the Pulumi SDK calls it, for one run of a program. */
export class Transformation {
  /** True in code that `transform` called: what is registered there is the extension's. */
  private readonly inside = new AsyncLocalStorage<true>();
  private failure: OperatorError | undefined;
  private readonly gate: Promise<never[]>;
  private settleGate: () => void = () => undefined;

  constructor(private readonly options: TransformationOptions) {
    this.gate = new Promise((resolve, reject) => {
      this.settleGate = () => (this.failure === undefined ? resolve([]) : reject(this.failure));
    });
    // Whoever waits for it gets the failure; where nobody does, it is no stray one.
    this.gate.catch(() => undefined);
  }

  /**
   * Lets the resources registered so far go to the engine, or none of them when one was refused. A program registers its resources in one go, so a
   * refused load balancer leaves nothing half-made in the cloud.
   */
  open(): void {
    this.settleGate();
  }

  readonly apply = ({ type, name, props, opts }: ResourceTransformationArgs): ResourceTransformationResult => {
    try {
      const isExtra = this.inside.getStore() === true;
      if (isExtra) this.assertKnown(type, name);
      const args = isExtra ? props : this.transformed(type, name, props);
      return { props: args, opts: mergeOptions(opts, { dependsOn: this.gate }) };
    } catch (thrown) {
      this.failure ??= withUrn(thrown as OperatorError, `urn:pulumi:${getStack()}::${getProject()}::${type}::${name}`);
      throw this.failure;
    }
  };

  private transformed(type: string, name: string, props: Args): Args {
    const { module, transform } = this.options;
    const what = `transform(${type} ${name}) of the extension ${nameOf(module)}`;
    const args = { ...props };
    const loadBalancers = this.options.loadBalancersOf({ type, name, args });
    const call = (): unknown => transform({ type, name, args, loadBalancers, refuse });
    let result: unknown;
    try {
      result = this.inside.run(true, () => within(TRANSFORM_LIMIT_MS, what, call)) ?? args;
    } catch (thrown) {
      throw this.failed(what, thrown);
    }
    if (!isArguments(result)) throw nonsense(what, result);
    // Undefined arguments are how the SDK is told of outputs: they can't be left out.
    const outputs = Object.keys(props).filter((key) => props[key] === undefined);
    return { ...Object.fromEntries(outputs.map((key) => [key, undefined])), ...result };
  }

  private failed(what: string, thrown: unknown): OperatorError {
    if (thrown instanceof OperatorError) return thrown;
    if (thrown instanceof Refusal) return new OperatorError('Invalid', `refused by the extension: ${thrown.message}`);
    return new OperatorError('Invalid', `${what} failed: ${describeThrown(thrown, this.options.module.path)}`, { cause: thrown });
  }

  private assertKnown(type: string, name: string): void {
    const { knownTypes, module } = this.options;
    if (knownTypes.length === 0 || knownTypes.includes(type)) return;
    const message = `transform of the extension ${nameOf(module)} makes ${type} "${name}", which a load balancer's stack can't hold`;
    throw new OperatorError('Invalid', message, { remedy: `Make it in extra(outputs); a transform may make ${knownTypes.join(', ')}.` });
  }
}

/** Says whose resource it was: in a stack of several load balancers the others then go on. */
function withUrn(error: OperatorError, resource: string): OperatorError {
  const { code, message, remedy, cause } = error;
  return new OperatorError(code, message, { resource, cause, ...(remedy === undefined ? {} : { remedy }) });
}

class Refusal extends Error {}

function refuse(message: string): never {
  throw new Refusal(message);
}

function isArguments(value: unknown): value is Args {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !('then' in value);
}

function nonsense(what: string, result: unknown): OperatorError {
  const isPromise = typeof result === 'object' && result !== null && 'then' in result;
  const given = isPromise ? 'a Promise' : Array.isArray(result) ? 'a list' : `a ${typeof result}`;
  return new OperatorError('Invalid', `${what} gave ${given} instead of the resource's arguments`, {
    remedy: isPromise ? 'It must not be async.' : 'Return an object with all arguments, or nothing to keep them.',
  });
}
