import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type EngineEvent, LocalWorkspace, type Stack, type UpOptions } from '@pulumi/pulumi/automation';
import { systemClock } from '../../base/clock';
import { OperatorError, toOperatorError } from '../../base/errors';
import type { WorkerModule } from '../../../providers/worker-module';
import { loadWorkerModule } from '../../../providers/worker-registry';
import { ResourceProviderServer } from '../../../providers/resource-provider/server';
import type { ResourceFailure } from '../../../providers/resource-provider/status';
import { PLAN_OUTDATED } from '../departure';
import { classifyFailure } from '../failure';
import type { PreviewResult, Timings, UpdateRequest, WorkerCommand, WorkerEvent } from '../protocol';
import { inputsIn, revealed } from '../checkpoint';
import { killOthers } from '../process-session';
import { capped, DONE_LIMITS, operationsOf } from '../plan';
import { undeletedOf } from '../undeleted';
import type { ChangeCounts } from '../update';
import { ChannelMembers } from './channel-members';
import { ChannelStore } from './channel-store';
import { SecretsCipher } from './endpoint/secrets';
import type { StateEndpoint } from './endpoint/endpoint';
import { UpdateSession } from './endpoint/session';
import { EngineEvents } from './engine-events';
import { EngineSteps } from './engine-steps';
import { engineEnvironment, type WorkerFolders } from './environment';
import { WatchedProgram } from './program';
import { extendedModule } from './extension/extended-module';
import { besidePlugin, PluginAccess } from './plugin-access';
import { EngineCommand, type EngineExit } from './pulumi-command';
import { RemoteGate } from './remote-gate';
import { rendersSame } from './rendering';
import type { Validity } from './validity';

export interface RunContext {
  endpoint: StateEndpoint;
  folders: WorkerFolders;
  engine: { path: string; version: string };
  validity: Validity;
  emit: (event: WorkerEvent) => void;
}

export interface RunResult {
  changes: ChangeCounts;
  preview?: PreviewResult;
  /** Of a rendering: the program makes what the state says. */
  same?: boolean;
  timings: Timings;
}

/** One update, from its request to the stored result. */
export class UpdateRun {
  readonly #abort = new AbortController();
  readonly #failures: ResourceFailure[] = [];
  readonly #callCounts = new Map<string, number>();
  readonly #remarks = new Set<string>();
  readonly #events: EngineEvents;
  readonly #steps = new EngineSteps();
  readonly #store: ChannelStore;
  readonly #members: ChannelMembers;
  /** The account's gate, which stands in the operator. */
  readonly #calls: RemoteGate;
  readonly #startedAt = performance.now();
  readonly #timings: Timings = { preparedMs: 0, programMs: 0, engineMs: 0, totalMs: 0 };
  #plugins = new PluginAccess([]);
  #endWatch: () => void = () => undefined;
  #canceled: string | undefined;
  #program: WatchedProgram | undefined;
  #session: UpdateSession | undefined;
  #enginePid: number | undefined;
  #exit: EngineExit | undefined;

  constructor(
    private readonly request: UpdateRequest,
    private readonly context: RunContext,
  ) {
    this.#events = new EngineEvents(request.id, context.emit, (text) => this.#plugins.redact(text));
    this.#store = new ChannelStore(request.id, context.emit);
    this.#members = new ChannelMembers(request.id, context.emit);
    this.#calls = new RemoteGate(request.id, context.emit);
  }

  get id(): string {
    return this.request.id;
  }

  /** The program never came to an end: what it still does would disturb later updates. */
  get tainted(): boolean {
    return this.#program?.started === true && !this.#program.finished;
  }

  /** The program is this update's. */
  runs(program: WatchedProgram): boolean {
    return program === this.#program;
  }

  /** Records something that the program did behind our back, such as an unhandled rejection. */
  blameProgram(thrown: unknown): void {
    this.#program?.fail(thrown);
  }

  cancel(reason: string): void {
    this.#canceled ??= reason;
    this.#abort.abort();
  }

  /** Other people's plugins don't ask whether they may write. */
  #cut(why: string): void {
    this.cancel(why);
    killOthers(process.pid);
  }

  /** The operator's answer to one of this update's events. */
  answered(answer: Extract<WorkerCommand, { id: string }>): void {
    if (answer.type === 'stored') this.#store.take(answer);
    else if (answer.type === 'targetsSynced') this.#members.take(answer);
    else if (answer.type === 'granted') this.#calls.granted(answer.calls);
    else this.#calls.denied(answer.call, answer.error);
  }

  /** @throws OperatorError the failure, classed */
  async execute(): Promise<RunResult> {
    const servers: ResourceProviderServer[] = [];
    try {
      const module = await this.#module();
      this.#program = new WatchedProgram(module, this.request.inputs, () => this.#mark('programMs'));
      this.#openSession();
      const providers = module.resourceProviders(this.request.settings, {
        stack: this.request.stack,
        clusterID: this.request.clusterID,
        assertValid: () => this.context.validity.assertValid(),
        syncTargets: (group) => this.#members.sync(group),
        stored: (type, name) => inputsIn(this.request.stored?.record.checkpoint ?? null, type, name),
        countCall: (verb) => void this.#callCounts.set(verb, (this.#callCounts.get(verb) ?? 0) + 1),
        remark: (text) => this.#remark(text),
        calls: this.#calls,
        ...(this.request.replaces !== undefined && { replaces: this.request.replaces }),
      });
      if (this.request.render === true) return { changes: this.#events.changes, timings: this.#timings, same: await this.#rendersSame() };
      for (const provider of providers) servers.push(await this.#serve(provider));
      this.#mark('preparedMs');
      const preview = await this.#engine(servers);
      this.#mark('totalMs');
      return { changes: this.#events.changes, timings: this.#timings, ...(preview === undefined ? {} : { preview }) };
    } finally {
      this.#endWatch();
      this.#plugins.close();
      for (const server of servers) server.close();
      await rm(this.#planFile, { force: true });
      this.context.endpoint.serve(undefined);
      const byVerb = Object.fromEntries(this.#callCounts);
      const total = [...this.#callCounts.values()].reduce((sum, count) => sum + count, 0);
      this.#tellOperations();
      this.context.emit({ type: 'calls', id: this.request.id, total, byVerb });
    }
  }

  /** The provider's half with what the extension does in it, and official plugins made ready where it uses them. */
  async #module(): Promise<WorkerModule> {
    const { providerKind, modulePath, extension, inputs, plugin, settings } = this.request;
    const own = loadWorkerModule(providerKind, modulePath);
    const module = extendedModule(own, extension, inputs === undefined);
    if (plugin === undefined && extension?.role !== 'extra') return module;
    if (this.request.render !== true) this.#plugins = await PluginAccess.open(own, settings);
    this.#endWatch = this.context.validity.watch((why) => this.#cut(why));
    return plugin === undefined ? module : besidePlugin(own, module);
  }

  /** Each once. */
  #remark(text: string): void {
    if (this.#remarks.has(text)) return;
    this.#remarks.add(text);
    this.context.emit({ type: 'remark', id: this.request.id, text });
  }

  #openSession(): void {
    const { stack, stored, keyring, holdMs } = this.request;
    const { validity } = this.context;
    const assertValid = (): void => validity.assertValid();
    const request = { ...this.request, inputs: this.request.inputs };
    this.#session = new UpdateSession(request, { store: this.#store, clock: systemClock, assertValid, holdMs }, stored);
    this.context.endpoint.serve({ session: this.#session, cipher: new SecretsCipher(keyring, stack) });
  }

  async #rendersSame(): Promise<boolean> {
    const { project, stack, stored, keyring } = this.request;
    const cipher = new SecretsCipher(keyring, stack);
    const decrypt = (ciphertext: string): string => cipher.decrypt(Buffer.from(ciphertext, 'base64')).toString();
    const resources = revealed(stored?.record.checkpoint?.deployment?.resources ?? [], decrypt);
    const same = await rendersSame(this.#program?.run ?? (() => Promise.resolve({})), { project, stack, resources });
    return same && this.#program?.failure === undefined;
  }

  async #serve(provider: ResourceProviderServer['provider']): Promise<ResourceProviderServer> {
    const server = new ResourceProviderServer(provider, {
      onFailure: (failure) => void this.#failures.push(failure),
      enginePid: () => this.#enginePid,
    });
    await server.listen();
    return server;
  }

  async #engine(servers: ResourceProviderServer[]): Promise<PreviewResult | undefined> {
    try {
      const stack = await this.#stack(servers);
      const preview = this.request.preview === true ? await this.#preview(stack) : await this.#up(stack);
      // The SDK calls an update good whose program failed after the last resource was registered.
      if (this.#program?.failure !== undefined) throw this.#program.failure;
      return preview;
    } catch (thrown) {
      const failure = this.#failure(thrown);
      // Where that can't be stored, the operator remembers it.
      if (failure.reason === PLAN_OUTDATED) await this.#session?.departed().catch(() => undefined);
      if (failure.undeleted !== undefined) await this.#session?.doneButDeletions();
      throw failure;
    }
  }

  async #up(stack: Stack): Promise<undefined> {
    const { savedPlan } = this.request;
    const plan = savedPlan === undefined ? {} : { plan: this.#planFile };
    if (savedPlan !== undefined) await writeFile(this.#planFile, savedPlan, { mode: 0o600 });
    await stack.up({ ...this.#options, ...plan });
  }

  async #preview(stack: Stack): Promise<PreviewResult> {
    await stack.preview({ ...this.#options, plan: this.#planFile });
    return { operations: operationsOf(this.#steps.steps), savedPlan: await readFile(this.#planFile, 'utf8') };
  }

  get #options(): Pick<UpOptions, 'onEvent' | 'signal' | 'suppressProgress' | 'refresh'> {
    const { plugin, inputs, stored } = this.request;
    // What discovery has put in the state is what our own provider records. The official one records more, and fails to delete what has gone.
    const isRead = plugin === 'Official' && (inputs === undefined || stored?.record.open === true || stored?.record.inputsHash === '');
    return { onEvent: (event) => this.#take(event), signal: this.#abort.signal, suppressProgress: true, refresh: isRead };
  }

  #take(event: EngineEvent): void {
    this.#events.take(event);
    this.#steps.take(event);
  }

  /** Also of an update that failed: what it began. */
  #tellOperations(): void {
    const { id, preview, render } = this.request;
    if (preview === true || render === true || this.#steps.steps.length === 0) return;
    this.context.emit({ type: 'operations', id, ...capped(operationsOf(this.#steps.steps), DONE_LIMITS) });
  }

  get #planFile(): string {
    return join(this.context.folders.temporary, `${this.request.id}.plan.json`);
  }

  async #stack(servers: ResourceProviderServer[]): Promise<Stack> {
    const { endpoint, folders, engine } = this.context;
    const command = new EngineCommand({
      ...engine,
      environment: {
        ...this.#plugins.environment,
        ...engineEnvironment(
          endpoint,
          folders,
          servers.map((server) => server.attachment),
        ),
      },
      onStart: (pid) => this.#started(pid),
      onExit: (exit) => {
        this.#exit = { ...exit, stderr: this.#plugins.redact(exit.stderr) };
        this.#mark('engineMs');
      },
    });
    const { stack, project } = this.request;
    return LocalWorkspace.createOrSelectStack(
      { stackName: `organization/${project}/${stack}`, projectName: project, program: this.#program?.run ?? (() => Promise.resolve({})) },
      {
        pulumiCommand: command.asPulumiCommand(),
        pulumiHome: folders.home,
        workDir: folders.work,
        projectSettings: { name: project, runtime: 'nodejs' },
      },
    );
  }

  #started(pid: number): void {
    this.#enginePid = pid;
    this.context.emit({ type: 'started', id: this.request.id, enginePid: pid });
  }

  #failure(thrown: unknown): OperatorError {
    if (this.#exit === undefined && this.#session?.refusal === undefined) return this.#notStarted(thrown);
    return classifyFailure({
      stack: this.request.stack,
      resources: this.#failures,
      diagnostics: this.#events.errors,
      ...(this.request.savedPlan === undefined ? {} : { approved: true }),
      ...this.#undeleted(),
      ...(this.#session?.refusal === undefined ? {} : { refusal: this.#session.refusal }),
      ...(this.#canceled === undefined ? {} : { canceled: this.#canceled }),
      ...(this.#program?.failure === undefined ? {} : { program: this.#program.failure }),
      ...(this.#exit === undefined ? {} : { exit: this.#exit }),
    });
  }

  #undeleted(): { undeleted?: string[] } {
    if (this.request.inputs === undefined || this.#isCutShort) return {};
    const { failed, reached } = this.#events;
    const undeleted = undeletedOf({ failures: this.#failures, failed, reached, left: this.#session?.record?.checkpoint });
    return undeleted === undefined ? {} : { undeleted };
  }

  get #isCutShort(): boolean {
    const why = this.#canceled ?? this.#session?.refusal ?? this.#program?.failure ?? this.#exit?.signal ?? undefined;
    return why !== undefined || this.#program?.finished !== true;
  }

  #notStarted(thrown: unknown): OperatorError {
    const { path } = this.context.engine;
    const code = (thrown as NodeJS.ErrnoException).code;
    if (code !== 'ENOENT' && code !== 'EACCES') return toOperatorError(thrown);
    return new OperatorError('Invalid', `the Pulumi CLI at ${path} can't be run: ${String(code)}`, {
      remedy: 'install it with "cloud-operator tools", or say where it is',
      cause: thrown,
    });
  }

  #mark(name: keyof Timings): void {
    this.#timings[name] = Math.round(performance.now() - this.#startedAt);
  }
}
