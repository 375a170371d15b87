import * as pulumi from '@pulumi/pulumi';
import type { JsonObject } from '../../operator/base/json';
import { needsReplacement, propertyChanges } from '../../providers/resource-provider/diff';
import type { ResourceContext, ResourceProvider, ResourceType } from '../../providers/resource-provider/resource-provider';
import { withKept } from '../../providers/resource-provider/service';
import type { WorkerModule } from '../../providers/worker-module';

/** A resource as an engine's checkpoint would hold it. */
export interface RunnerResource {
  type: string;
  name: string;
  id: string;
  inputs: JsonObject;
  outputs: JsonObject;
}

/**
 * Brings a provider's real program and its real resource types together without the engine: registrations of the Pulumi SDK go straight to
 * `create`, `update` and `delete`, by the same rules as the engine's (unchanged inputs = no call, replaceOn, deletes last and in reverse).
 * One run at a time for each process: the SDK's runtime is global.
 */
export class ProgramRunner {
  private resources: RunnerResource[] = [];

  constructor(
    private readonly worker: WorkerModule,
    private readonly providers: ResourceProvider[],
    private readonly stack: string,
  ) {}

  /** What a checkpoint would hold, dependents after what they need. */
  checkpoint(): RunnerResource[] {
    return this.resources;
  }

  /** Takes over what another runner left, as a restarted worker does. */
  restore(resources: RunnerResource[]): void {
    this.resources = resources;
  }

  /**
   * One update.
   * @returns the stack's outputs
   * @throws the first failure of a resource; nothing is begun after it
   */
  async up(inputs: JsonObject): Promise<JsonObject> {
    const run = new Run();
    await pulumi.runtime.setMocks(
      {
        newResource: async ({ type, name, inputs: given }) => {
          const placeholder = { id: `none-${name}`, state: given as JsonObject };
          if (run.failure !== undefined) return placeholder;
          try {
            const registered = await this.register(type, name, JSON.parse(JSON.stringify(given)) as JsonObject);
            run.registered.add(registered);
            // As in a checkpoint: first what this run registered, then what is left of older runs, so that dependents go before what they need.
            this.resources = [...run.registered, ...this.resources.filter((other) => !run.registered.has(other))];
            return { id: registered.id, state: registered.outputs };
          } catch (error) {
            run.failure ??= { error };
            return placeholder;
          }
        },
        call: ({ token }) => Promise.reject(new Error(`a program must not call functions: ${token}`)),
      },
      'conformance',
      this.stack,
      false,
    );
    const outputs = await resolved(await this.worker.program(inputs));
    await pulumi.runtime.disconnect();
    if (run.failure !== undefined) throw run.failure.error;
    await this.deleteAllBut(run.registered);
    return outputs;
  }

  async destroy(): Promise<void> {
    await this.deleteAllBut(new Set());
  }

  /** The resource type and the context of one resource, for direct calls. */
  resource(type: string, name: string): { type: ResourceType; context: ResourceContext } {
    const found = this.providers.flatMap(({ types }) => types).find(({ token }) => token === type);
    if (found === undefined) throw new Error(`no resource provider serves ${type}`);
    const urn = `urn:pulumi:${this.stack}::conformance::${type}::${name}`;
    return { type: found, context: { urn, name, signal: new AbortController().signal } };
  }

  private async register(token: string, name: string, asked: JsonObject): Promise<RunnerResource> {
    const { type, context } = this.resource(token, name);
    const known = this.resources.find((resource) => resource.type === token && resource.name === name);
    const inputs = known === undefined ? asked : withKept(known.inputs, asked, type);
    const problems = type.check?.(inputs) ?? [];
    if (problems.length > 0) throw new Error(`${token} ${name}: ${JSON.stringify(problems)}`);
    if (known === undefined) return this.add(type, context, inputs);
    const changed = propertyChanges(known.inputs, inputs);
    if (changed.length === 0) return known;
    if (changed.some((change) => needsReplacement(change, type))) {
      // Else the old one goes at the end.
      if (type.deleteBeforeReplace === true) await this.drop(known);
      return this.add(type, context, inputs);
    }
    known.outputs = (await type.update(known.id, known.outputs, inputs, context)).outputs;
    known.inputs = inputs;
    return known;
  }

  private async add(type: ResourceType, context: ResourceContext, inputs: JsonObject): Promise<RunnerResource> {
    const { id, outputs } = await type.create(inputs, context);
    const made = { type: type.token, name: context.name, id, inputs, outputs };
    this.resources.push(made);
    return made;
  }

  private async deleteAllBut(kept: ReadonlySet<RunnerResource>): Promise<void> {
    for (const resource of this.resources.toReversed()) {
      if (!kept.has(resource)) await this.drop(resource);
    }
  }

  private async drop(resource: RunnerResource): Promise<void> {
    const { type, context } = this.resource(resource.type, resource.name);
    await type.delete(resource.id, context, resource.outputs);
    this.resources = this.resources.filter((other) => other !== resource);
  }
}

class Run {
  readonly registered = new Set<RunnerResource>();
  failure: { error: unknown } | undefined;
}

function resolved(outputs: Record<string, unknown>): Promise<JsonObject> {
  return new Promise((resolve) => pulumi.output(outputs).apply((values) => resolve(values as JsonObject)));
}
