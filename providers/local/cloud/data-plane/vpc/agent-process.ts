import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../../../../../operator/base/clock';
import { OperatorError, type ErrorCode } from '../../../../../operator/base/errors';
import type { Logger } from '../../../../../operator/base/log';
import { onLines } from '../lines';
import { NAMED } from './namespaces';
import { vpcNamespace } from './network';
import type { AgentCalls, AgentConfig, AgentMessage, AgentMethod, AgentRequest } from './protocol';

const READY_TIMEOUT_MS = 15_000;
/** Processes of instances have 5 s to end. */
const STOP_TIMEOUT_MS = 10_000;

const HERE = join('providers', 'local', 'cloud', 'data-plane', 'vpc');
/** The compiled agent; this file itself may run from its source, in tests. */
const AGENT = join(__filename.endsWith('.ts') ? join(__dirname.slice(0, -HERE.length), 'lib', HERE) : __dirname, 'agent.js');

interface Waiting {
  resolve: (result: never) => void;
  reject: (error: Error) => void;
}

/** The agent of one VPC, as a child process in the VPC's namespace. */
export class AgentProcess {
  private readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  private readonly waiting = new Map<number, Waiting>();
  private lastID = 0;
  private lastWords = '';
  /** Resolves when the agent, and with it everything in its process namespace, has ended. */
  readonly ended: Promise<void>;

  private constructor(
    config: AgentConfig,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    const { PATH = '', HOME = '', TMPDIR } = process.env;
    const [program = '', ...args] = agentCommand(config);
    this.child = spawn(program, args, {
      // A session of its own: Ctrl-C ends the cloud, which then asks the agent.
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH, HOME, ...(TMPDIR !== undefined && { TMPDIR }) },
    });
    this.ended = new Promise((resolve) => {
      this.child.on('close', () => {
        this.fail(`the data plane's agent ended${this.lastWords === '' ? '' : `: ${this.lastWords}`}`);
        resolve();
      });
      this.child.on('error', (error) => {
        this.lastWords = error.message;
        if (this.child.pid === undefined) resolve();
      });
    });
    // The agent has ended then, and `close` follows.
    this.child.stdin.on('error', (error) => (this.lastWords ||= error.message));
    onLines(this.child.stderr, (line) => {
      this.lastWords = line;
      logger.error({ line }, 'agent says');
    });
  }

  /** @throws OperatorError with what the agent said when it can't start */
  static async start(config: AgentConfig, clock: Clock, logger: Logger): Promise<AgentProcess> {
    const agent = new AgentProcess(config, clock, logger);
    const ready = new Promise<boolean>((resolve) => {
      onLines(agent.child.stdout, (line) => agent.receive(JSON.parse(line) as AgentMessage, () => resolve(true)));
      void agent.ended.then(() => resolve(false));
      const cancel = clock.after(READY_TIMEOUT_MS, () => resolve(false));
      void agent.ended.then(cancel);
    });
    if (await ready) return agent;
    await agent.stop();
    const why = agent.lastWords === '' ? `it was not ready within ${READY_TIMEOUT_MS} ms` : agent.lastWords;
    throw new OperatorError('Unknown', `the data plane's agent did not start: ${why}`);
  }

  /** @throws OperatorError as the agent does, Transient when it ends meanwhile */
  call<M extends AgentMethod>(method: M, params: AgentCalls[M]['params']): Promise<AgentCalls[M]['result']> {
    const id = ++this.lastID;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      if (!this.child.stdin.writable) return this.fail('the agent has ended');
      this.child.stdin.write(`${JSON.stringify({ id, method, params } satisfies AgentRequest)}\n`);
      return undefined;
    });
  }

  /** Asks the agent to take everything down; kills it when that lasts too long. Resolves when it is gone. */
  async stop(): Promise<void> {
    this.child.stdin.end();
    const cancel = this.clock.after(STOP_TIMEOUT_MS, () => this.child.kill('SIGKILL'));
    await this.ended;
    cancel();
  }

  private receive(message: AgentMessage, onReady: () => void): void {
    if (message.kind === 'ready') return onReady();
    if (message.kind === 'log') return this.logger[message.level](message.fields, message.message);
    const waiting = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.kind === 'result') waiting?.resolve(message.result as never);
    else waiting?.reject(new OperatorError(message.code as ErrorCode, message.message));
  }

  private fail(reason: string): void {
    for (const { reject } of this.waiting.values()) reject(new OperatorError('Transient', reason));
    this.waiting.clear();
  }
}

/**
 * A process namespace of its own in every tier: when the agent dies, however it dies, the kernel kills everything that it started.
 * Pure.
 */
function agentCommand(config: AgentConfig): string[] {
  const agent = [process.execPath, '--enable-source-maps', AGENT, JSON.stringify(config)];
  if (config.tier === 'vpc-userns') {
    return ['unshare', '--user', '--map-root-user', '--net', '--mount', '--pid', '--mount-proc', '--fork', '--kill-child', ...agent];
  }
  const netns = config.namespace ?? join(NAMED, vpcNamespace(config.id));
  return ['nsenter', `--net=${netns}`, '--', 'unshare', '--pid', '--fork', '--kill-child', ...agent];
}
