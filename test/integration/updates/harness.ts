import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { transformSync } from '@swc/core';
import { sleep, systemClock } from '../../../operator/base/clock';
import { silentLogger } from '../../../operator/base/log';
import { compiled, PROJECT_ROOT } from '../../../operator/entry';
import { UpdateEngine } from '../../../operator/updates/engine';
import type { UpdateEngineOptions } from '../../../operator/updates/engine-options';
import { DirectoryStateStore } from '../../../operator/updates/state/directory-state-store';
import type { WorkerEvent } from '../../../operator/updates/protocol';
import type { StackUpdate, UpdateHooks } from '../../../operator/updates/update';
import { FakeCloud } from './fake-cloud';
import type { FakeInputs } from './fake-provider';

/** Workers run compiled files; the test provider is compiled beside them. */
export function compileFakeProvider(): string {
  const source = join(PROJECT_ROOT, 'test/integration/updates/fake-provider.ts');
  const target = compiled('test/integration/updates/fake-provider');
  const { code } = transformSync(readFileSync(source, 'utf8'), {
    filename: source,
    jsc: { target: 'es2023', parser: { syntax: 'typescript' } },
    module: { type: 'commonjs' },
  });
  mkdirSync(join(target, '..'), { recursive: true });
  // Whole from one moment to the next: workers of other suites load it.
  writeFileSync(`${target}.${process.pid}`, code);
  renameSync(`${target}.${process.pid}`, target);
  return target;
}

export function pulumiPath(): string {
  const path = join(homedir(), '.cache/cloud-operator/tools/pulumi/v3.274.1/pulumi');
  if (!existsSync(path)) throw new Error(`the Pulumi CLI is not at ${path}; run "cloud-operator tools" first`);
  return path;
}

/** An engine, a fake cloud and a state directory for one test file. */
export class UpdatesHarness {
  readonly cloud = new FakeCloud();
  /** Made by start(). */
  directory = '';
  readonly events: { stack: string; event: WorkerEvent }[] = [];
  readonly modulePath = compileFakeProvider();
  readonly #engines: UpdateEngine[] = [];
  engine!: UpdateEngine;

  async start(options: Partial<UpdateEngineOptions> = {}): Promise<void> {
    this.directory = mkdtempSync(join(tmpdir(), 'cloud-operator-updates-'));
    await this.cloud.start();
    this.engine = this.newEngine(options);
  }

  /** Another engine on the same state, as a restarted operator has. */
  newEngine(options: Partial<UpdateEngineOptions> = {}): UpdateEngine {
    const engine = new UpdateEngine({
      store: new DirectoryStateStore(this.directory),
      tools: { pulumi: pulumiPath() },
      logger: silentLogger,
      clock: systemClock,
      workerModules: { fake: this.modulePath },
      runDirectory: join(this.directory, 'run'),
      onEvent: (stack, event) => void this.events.push({ stack, event }),
      ...options,
    });
    this.#engines.push(engine);
    return engine;
  }

  /** Writes a script beside the state; gives its path. */
  script(name: string, text: string): string {
    const path = join(this.directory, name);
    writeFileSync(path, text);
    return path;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#engines.map((engine) => engine.close()));
    await this.cloud.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }

  update(stack: string, inputs: FakeInputs | undefined, more: Partial<StackUpdate> = {}): StackUpdate {
    return {
      stack,
      project: 'fake',
      providerName: 'fake',
      providerKind: 'fake',
      programVersion: '1',
      clusterID: 'cluster',
      inputs: inputs as StackUpdate['inputs'],
      settings: { url: this.cloud.url },
      ...more,
    };
  }

  hooks(stack: string, more: Partial<UpdateHooks> = {}): UpdateHooks {
    return { isValid: () => true, discover: () => Promise.resolve(this.cloud.discover(stack)), ...more };
  }

  run(stack: string, inputs: FakeInputs | undefined, more: Partial<StackUpdate> = {}): ReturnType<UpdateEngine['run']> {
    return this.engine.run(this.update(stack, inputs, more), this.hooks(stack));
  }

  /** Settles when the condition holds; fails after 20 s. */
  async until(condition: () => boolean): Promise<void> {
    for (const deadline = performance.now() + 20_000; !condition();) {
      if (performance.now() > deadline) throw new Error(`the condition never held: ${condition.toString()}`);
      await sleep(systemClock, 20);
    }
  }
}
