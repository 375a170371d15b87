import * as pulumi from '@pulumi/pulumi';
import { type RegisterResourceRequest, RegisterResourceResponse } from '@pulumi/pulumi/proto/resource_pb';
import type { JsonObject } from '../../operator/base/json';
import { needsReplacement, propertyChanges } from '../../providers/resource-provider/diff';
import { foreseen } from '../../providers/resource-provider/preview';
import { fromStruct, reveal, toStruct } from '../../providers/resource-provider/properties';
import type { ResourceContext, ResourceProvider, ResourceType } from '../../providers/resource-provider/resource-provider';
import { withKept } from '../../providers/resource-provider/service';
import type { WorkerModule } from '../../providers/worker-module';
import { departuresOf, outputsKnown, type ProgramPlan } from './program-plan';

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

  /**
   * The same as an update that was approved: it is previewed first.
   * @throws Error where it became something else than the preview knew, which the engine would have refused halfway
   */
  async upAsPlanned(inputs: JsonObject): Promise<JsonObject> {
    const planned = await this.preview(inputs);
    const outputs = await this.up(inputs);
    const made = Object.fromEntries(this.resources.map(({ type, name, inputs: of }) => [`${type} ${name}`, of]));
    const departures = departuresOf(planned, { inputs: made, outputs });
    if (departures.length > 0) throw new Error(`the update became something else than its preview said: ${departures.join('; ')}`);
    return outputs;
  }

  /** What an update would come to, by what the types foresee. */
  private async preview(inputs: JsonObject): Promise<ProgramPlan> {
    const planned: ProgramPlan['inputs'] = {};
    const run = new Run();
    const refused = (): Promise<never> => Promise.reject(new Error('no mock is asked in a preview'));
    await pulumi.runtime.setMocks({ newResource: refused, call: refused }, 'conformance', this.stack, true);
    // Mocks get to see no unknown values.
    const registerResource = (
      request: RegisterResourceRequest,
      answer: (error: null, response: RegisterResourceResponse) => void,
    ): void => {
      const [token, name] = [request.getType(), request.getName()];
      const asked = reveal(fromStruct(request.getObject()));
      const looked = this.foresee(token, name, asked, planned).catch((error: unknown) => {
        run.failure ??= { error };
        return { id: '', outputs: asked };
      });
      const response = new RegisterResourceResponse().setUrn(this.resource(token, name).context.urn);
      void looked.then(({ id, outputs }) => answer(null, response.setId(id).setObject(toStruct(outputs))));
    };
    Object.assign(pulumi.runtime.getMonitor() ?? {}, { registerResource });
    const outputs = await outputsKnown(await this.worker.program(inputs));
    await pulumi.runtime.disconnect();
    if (run.failure !== undefined) throw run.failure.error;
    return { inputs: planned, outputs };
  }

  private async foresee(
    token: string,
    name: string,
    asked: JsonObject,
    planned: ProgramPlan['inputs'],
  ): Promise<Pick<RunnerResource, 'id' | 'outputs'>> {
    const { type, context } = this.resource(token, name);
    const known = this.known(token, name);
    const inputs = known === undefined ? asked : withKept(known.inputs, asked, type);
    planned[`${token} ${name}`] = inputs;
    const changed = known === undefined ? [] : propertyChanges(known.inputs, inputs);
    if (known === undefined || changed.some((change) => needsReplacement(change, type))) {
      return { id: '', outputs: await foreseen({ inputs }, type, context) };
    }
    return changed.length === 0 ? known : { id: known.id, outputs: await foreseen({ inputs, olds: known.outputs }, type, context) };
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
    const known = this.known(token, name);
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

  private known(token: string, name: string): RunnerResource | undefined {
    return this.resources.find((resource) => resource.type === token && resource.name === name);
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
