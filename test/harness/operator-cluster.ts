import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DEV_TOOLS, DevCluster } from '../../dev/cluster/dev-cluster';
import { freePort } from '../../dev/cluster/free-port';
import type { Tier } from '../../dev/cluster/local-cloud';
import { OPERATOR_IDENTITY, startOperator, type OperatorProcessOptions } from '../../dev/cluster/operator';
import { ProcessGuard, type GuardedProcess } from '../../dev/cluster/process-guard';
import { describeExit } from '../../dev/cluster/start-failure';
import { KubeClient } from '../../operator/kube/client';
import { loadKubeConfig } from '../../operator/kube/kube-config';
import { LocalCloudAdmin } from '../../providers/local/cloud/admin-client';
import { LocalCloudClient } from '../../providers/local/client';
import { ensureTools } from '../../tools/ensure';

export interface OperatorClusterOptions {
  /** Fields of the CloudProvider's spec; default: drift is looked for only once an hour, so that it is nobody's help. */
  provider?: Record<string, unknown>;
  /** More flags of `cloud-operator run`. */
  flags?: string[];
  tier?: Tier;
  logLevel?: string;
  /** Whether etcd writes through to the disk; default false, which is for tests. */
  fsync?: boolean;
  /** Whether the API server logs all requests: `auditLog`. Default false. */
  audit?: boolean;
  /** The operator's whole environment; default the minimal one. */
  environment?: Record<string, string>;
  /** Path of the Pulumi CLI; absent = the pinned one. */
  pulumi?: string;
  /** Holds everything, is reused with its data, and stays; absent = a temporary one. */
  directory?: string;
  /** False: the first start of the operator is the caller's. */
  started?: boolean;
}

/** One line of the API server's audit log: who asked for what, and the answer's code. */
export interface AuditEvent {
  user: { username: string };
  userAgent?: string;
  verb: string;
  objectRef?: { apiGroup?: string; resource: string; subresource?: string; namespace?: string; name?: string };
  responseStatus?: { code: number };
}

/** Time to give `beforeAll`, in milliseconds: the start itself and a first use of the tools. */
export const OPERATOR_CLUSTER_START_MS = 120_000;

/** What the test's own calls to the local cloud are counted under. */
const TEST_CALLER = 'test';

/**
 * A whole system for one test file: control plane, local cloud, and the operator as a process under the rights of its ServiceAccount.
 * The operator is not started again when it ends: tests kill it and say when the next one starts.
 */
export class OperatorCluster {
  readonly kube: KubeClient;
  /** Counts, faults, changes from behind. */
  readonly cloud: LocalCloudAdmin;
  /** The cloud's API, as somebody else than the operator. */
  readonly resources: LocalCloudClient;
  private readonly guard = ProcessGuard.open();
  private operator: GuardedProcess | undefined;

  private constructor(
    private readonly dev: DevCluster,
    private readonly tools: Record<string, string>,
    private readonly options: Omit<OperatorProcessOptions, 'paths' | 'kubeconfig' | 'pulumi' | 'cloud'>,
    private readonly keeps: boolean,
  ) {
    const { endpoint, tokenFile } = dev.cloud;
    const token = readFileSync(tokenFile, 'utf8').trim();
    this.kube = new KubeClient(loadKubeConfig({ kubeconfig: this.kubeconfigPath }), { qps: 0 });
    this.cloud = new LocalCloudAdmin(endpoint, token);
    this.resources = new LocalCloudClient({ endpoint, token: () => Promise.resolve(token), caller: TEST_CALLER });
  }

  /** Starts everything in about 8 s. Call it in `beforeAll` (with OPERATOR_CLUSTER_START_MS) and `stop()` in `afterAll`. */
  static async start(options: OperatorClusterOptions = {}): Promise<OperatorCluster> {
    const tools = { ...(await ensureTools(DEV_TOOLS)), ...(options.pulumi !== undefined && { pulumi: options.pulumi }) };
    const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'cloud-operator-test-'));
    const { tier = 'none', logLevel = 'info', fsync = false, audit = false, flags = [], environment } = options;
    const common = { directory, tools, tier, operator: false, fsync, audit, report: () => undefined } as const;
    const dev = await DevCluster.start({ ...common, logLevel });
    const provider = { driftInterval: '1h', routePeriod: '1h', ...options.provider };
    const more = environment === undefined ? {} : { environment };
    const cluster = new OperatorCluster(
      dev,
      tools,
      { provider, port: await freePort(), logLevel, flags, ...more },
      options.directory !== undefined,
    );
    try {
      if (options.started !== false) await cluster.startOperator();
      return cluster;
    } catch (thrown) {
      await cluster.stop();
      throw thrown;
    }
  }

  get kubeconfigPath(): string {
    return this.dev.controlPlane.kubeconfigPath;
  }

  get directory(): string {
    return this.dev.paths.root;
  }

  /** File with the cloud's API token, which the operator reads. */
  get tokenFile(): string {
    return this.dev.paths.cloudToken;
  }

  async tokenText(): Promise<string> {
    return readFile(this.tokenFile, 'utf8');
  }

  get cloudEndpoint(): string {
    return this.dev.cloud.endpoint;
  }

  get operatorURL(): string {
    return `http://127.0.0.1:${this.options.port}`;
  }

  get operatorPid(): number {
    if (this.operator === undefined) throw new Error('the operator does not run');
    return this.operator.pid;
  }

  /** Worker processes of the operator that runs. */
  workerPids(): number[] {
    const parent = this.operatorPid;
    return readdirSync('/proc')
      .filter((name) => /^[0-9]+$/.test(name) && parentOf(name) === parent)
      .map(Number);
  }

  /** What the operator has logged so far, all its processes together. */
  operatorLog(): string {
    return readFileSync(join(this.dev.paths.logs, 'operator.log'), 'utf8');
  }

  /** Whether it runs, what it says of its health, and its last warnings, for the message of a failure. */
  async describeOperator(): Promise<string> {
    const { operator } = this;
    if (operator === undefined) return 'no operator runs';
    const { exit } = operator;
    const log = this.operatorLog().trim().split('\n');
    const told = log.filter((line) => !/"level":(10|20|30)\b|"path":"readyz"/.test(line)).slice(-10);
    const state = exit === undefined ? 'runs' : `ended with ${describeExit(exit)}`;
    const health = await readyText(this.operatorURL);
    return [
      `the operator ${state}; ${health}; of ${log.length} lines of its log the last, and the last warnings:`,
      log.at(-1) ?? '',
      ...told,
    ]
      .map((line) => line.slice(0, 400))
      .join('\n');
  }

  /** Every request that the API server has answered so far. */
  auditLog(): AuditEvent[] {
    const lines = readFileSync(join(this.dev.paths.logs, 'audit.log'), 'utf8').trim().split('\n');
    return lines.map((line) => JSON.parse(line) as AuditEvent);
  }

  /** Resolves when it is ready. @param flags more of them, for this run only */
  async startOperator(flags: string[] = []): Promise<void> {
    this.operator = await startOperator(this.guard, {
      ...this.options,
      flags: [...(this.options.flags ?? []), ...flags],
      paths: this.dev.paths,
      kubeconfig: this.dev.controlPlane.kubeconfigFor(OPERATOR_IDENTITY.user),
      pulumi: this.tools.pulumi ?? '',
      cloud: this.dev.cloud,
    });
  }

  /** As a rollout ends it: with time to finish what it does. */
  async stopOperator(): Promise<void> {
    await this.operator?.stop();
    this.operator = undefined;
  }

  /** SIGKILL, from one moment to the next. */
  async killOperator(): Promise<void> {
    process.kill(this.operatorPid, 'SIGKILL');
    await this.operator?.ended;
    this.operator = undefined;
  }

  /** Runs kubectl as the admin and gives its standard output; throws with its standard error. `input` goes to its standard input, `env` beside its environment. */
  async kubectl(args: string[], input = '', env: Record<string, string> = {}): Promise<string> {
    const all = ['--kubeconfig', this.kubeconfigPath, ...args];
    const running = promisify(execFile)(this.tools.kubectl ?? '', all, { maxBuffer: 64 * 1024 * 1024, env: { ...process.env, ...env } });
    // A kubectl that reads nothing may have ended by now; its exit code says how.
    running.child.stdin?.on('error', () => undefined).end(input);
    try {
      return (await running).stdout;
    } catch (thrown) {
      const { stderr } = thrown as { stderr?: string };
      throw new Error(`kubectl ${args.join(' ')}: ${stderr?.trim() ?? String(thrown)}`, { cause: thrown });
    }
  }

  /** Applies objects as a person does. */
  async apply(...objects: object[]): Promise<void> {
    await this.kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  }

  /** Calls that the operator and its workers made to the cloud since the last reset. */
  async operatorCalls(): Promise<{
    total: number;
    writes: number;
    calls: { verb: string; collection: string; code: number; count: number }[];
  }> {
    const calls = (await this.cloud.calls()).calls.filter(({ caller }) => caller !== TEST_CALLER);
    const sum = (some: typeof calls): number => some.reduce((total, { count }) => total + count, 0);
    return { total: sum(calls), writes: sum(calls.filter(({ verb }) => verb !== 'get' && verb !== 'list')), calls };
  }

  /** Requests of the operator to the API server since it started that were no reads. */
  async operatorWrites(): Promise<number> {
    const text = await (await fetch(`${this.operatorURL}/metrics`)).text();
    const lines = text.split('\n').filter((line) => line.startsWith('rest_client_requests_total{'));
    if (lines.length === 0) throw new Error('the operator counts no requests');
    const writes = lines.filter((line) => !line.includes('method="GET"'));
    return writes.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  }

  /** Ends everything and removes its data. */
  async stop(): Promise<void> {
    await this.stopOperator();
    await this.guard.close();
    await Promise.all([this.kube.close(), this.cloud.close(), this.resources.close()]);
    await this.dev.stop();
    if (!this.keeps) rmSync(this.directory, { recursive: true, force: true });
  }
}

async function readyText(url: string): Promise<string> {
  try {
    const answer = await fetch(`${url}/readyz?verbose`, { signal: AbortSignal.timeout(2_000) });
    return `/readyz says ${answer.status}: ${(await answer.text()).trim().replaceAll('\n', ', ')}`;
  } catch (thrown) {
    return `/readyz: ${(thrown as Error).message}`;
  }
}

function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined; // it has ended meanwhile
  }
}
