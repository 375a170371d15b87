import { runtime } from '@pulumi/pulumi';
import {
  type RegisterResourceOutputsRequest,
  type RegisterResourceRequest,
  RegisterResourceResponse,
} from '@pulumi/pulumi/proto/resource_pb';
import { MockMonitor } from '@pulumi/pulumi/runtime/mocks';
import * as state from '@pulumi/pulumi/runtime/state';
import { Struct } from 'google-protobuf/google/protobuf/struct_pb';
import type { JsonObject } from '../../base/json';
import { propertyChanges } from '../../../providers/resource-provider/diff';
import { type CheckpointResource, isProvider, rootUrn, typeOfUrn } from '../checkpoint';

/** The stack whose state a program is compared with; secret values in clear. */
export interface RenderedAgainst {
  project: string;
  stack: string;
  resources: readonly CheckpointResource[];
}

/** Each run of a program has a store of its own, as the Automation API gives it one; the SDK exports this without declaring it. */
const { withLocalStorage } = state as unknown as { withLocalStorage: <T>(work: () => Promise<T>) => Promise<T> };

/**
 * Runs a program without an engine, on what the state says that its resources have become.
 * @returns true when it registers the same resources with the same inputs and gives the same outputs: an engine would find nothing to do.
 *   False also where that can't be told, such as for a program that asks a provider something
 */
export function rendersSame(program: () => Promise<Record<string, unknown>>, against: RenderedAgainst): Promise<boolean> {
  return withLocalStorage(async () => {
    const monitor = new CheckpointMonitor(against);
    await runtime.setMocks(monitor.mocks, against.project, against.stack);
    runtime.setMockOptions(monitor, against.project, against.stack);
    let failed = false;
    // An error of the program would come up again behind our back; whoever runs it next is told what is wrong with it.
    const caught = async (): Promise<Record<string, unknown>> => {
      try {
        return await program();
      } catch {
        failed = true;
        return {};
      }
    };
    await runtime.runInPulumiStack(caught);
    await runtime.disconnect();
    return monitor.same && !failed;
  });
}

type Callback = (error: unknown, answer: unknown) => void;

/** Answers a program's registrations with what a checkpoint says, and notes whether they are those that led to it. */
class CheckpointMonitor extends MockMonitor {
  readonly #known: Map<string, CheckpointResource>;
  readonly #seen = new Set<string>();
  readonly #root: string;
  readonly #unanswered: { readonly count: number };
  #differs: boolean;

  constructor({ project, stack, resources }: RenderedAgainst) {
    // What only a provider can answer gets an empty answer: an error would come up again behind the program's back.
    const unanswered = { count: 0 };
    super({
      newResource: ({ id = '' }) => {
        unanswered.count++;
        return { id, state: {} };
      },
      call: () => {
        unanswered.count++;
        return {};
      },
    });
    this.#unanswered = unanswered;
    this.#root = rootUrn(project, stack);
    const own = resources.filter((resource) => !isProvider(resource));
    this.#known = new Map(own.map((resource) => [resource.urn, resource]));
    // What is still to be deleted is for the engine.
    this.#differs = this.#known.size !== own.length || own.some((resource) => resource.delete === true);
  }

  get same(): boolean {
    return !this.#differs && this.#unanswered.count === 0 && [...this.#known.keys()].every((urn) => this.#seen.has(urn));
  }

  override registerResource(request: RegisterResourceRequest, callback: Callback): Promise<void> {
    const urn = this.#urnOf(request);
    const known = this.#known.get(urn);
    const inputs = properties(request.getObject());
    this.#seen.add(urn);
    if (known === undefined || !isAsked(request, known) || !areEqual(known.inputs ?? {}, inputs)) this.#differs = true;
    const answer = new RegisterResourceResponse().setUrn(urn).setId(known?.id ?? '');
    callback(undefined, answer.setObject(Struct.fromJavaScript(known?.outputs ?? inputs)));
    return Promise.resolve();
  }

  override registerResourceOutputs(request: RegisterResourceOutputsRequest, callback: Callback): void {
    const known = this.#known.get(request.getUrn());
    if (!areEqual(known?.outputs ?? {}, properties(request.getOutputs()))) this.#differs = true;
    callback(undefined, {});
  }

  /** A parent's type stands before that of its children, the root's doesn't. */
  #urnOf(request: RegisterResourceRequest): string {
    const [parent, type] = [request.getParent(), request.getType()];
    if (type === runtime.rootPulumiStackTypeName) return this.#root;
    const qualified = parent === '' || parent === this.#root ? type : `${typeOfUrn(parent)}$${type}`;
    return [...this.#root.split('::').slice(0, 2), qualified, request.getName()].join('::');
  }
}

/** Compares the options that are not properties; those that we can't compare count as different. */
function isAsked(request: RegisterResourceRequest, known: CheckpointResource): boolean {
  const { type, custom, protect = false, dependencies = [], deletedWith = '' } = known;
  const olds = [type, custom, protect, deletedWith, [...new Set(dependencies)].sort()];
  const asked = [...new Set(request.getDependenciesList())].sort();
  const news = [request.getType(), request.getCustom(), request.getProtect() === true, request.getDeletedwith(), asked];
  return (
    JSON.stringify(olds) === JSON.stringify(news) &&
    isOfProvider(request, known) &&
    uncompared(request).every((option) => option === '' || option === false || (Array.isArray(option) && option.length === 0))
  );
}

function uncompared(request: RegisterResourceRequest): unknown[] {
  return [
    request.getAliasesList(),
    request.getAliasurnsList(),
    request.getIgnorechangesList(),
    request.getReplaceonchangesList(),
    request.getReplaceWithList(),
    request.getAdditionalsecretoutputsList(),
    request.getImportid(),
    request.getRetainondelete() === true,
    request.getDeletebeforereplace(),
  ];
}

/** A default provider has its package's version in its name. */
function isOfProvider(request: RegisterResourceRequest, { provider = '' }: CheckpointResource): boolean {
  const named = request.getProvider();
  return named === '' ? provider.includes(request.getVersion().replace(/\W/g, '_')) : named === provider;
}

function areEqual(olds: JsonObject, news: JsonObject): boolean {
  return propertyChanges(olds, news).length === 0;
}

function properties(struct: Struct | undefined): JsonObject {
  return struct?.toJavaScript() ?? {};
}
