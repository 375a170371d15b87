import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { minimalEnvironment, ProcessGuard, type GuardedProcess } from '../../../dev/cluster/process-guard';
import { OperatorError } from '../../../operator/base/errors';
import type { OperatorCluster } from '../../harness/operator-cluster';
import { awsEnvironment } from '../../harness/moto';
import { REGION } from '../../integration/aws/moto-account';
import { MemoryWatch, rssMB } from '../processes';

export type ContestantName = 'ours' | 'upstream';

/** A cloud-controller-manager that is measured. */
export interface Contestant {
  readonly name: ContestantName;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Of its process, at this moment, in MB. */
  memoryMB(): number;
  /** Of the largest of its workers so far, in MB; undefined where it has none. */
  workerMB(): number | undefined;
  /** @throws OperatorError with the end of its log when it has ended by itself */
  assertRuns(): void;
}

/** What both are given. */
export interface Corner {
  cluster: OperatorCluster;
  /** Path of the configuration file. */
  config: string;
  /** Of the proxy. */
  url: string;
}

/** cloud-operator, as its cluster has it. */
export class Ours implements Contestant {
  readonly name = 'ours';
  private readonly watch: MemoryWatch;
  private largest = 0;

  constructor(private readonly cluster: OperatorCluster) {
    this.watch = new MemoryWatch(() => this.pid());
  }

  async start(): Promise<void> {
    await this.cluster.startOperator();
  }

  async stop(): Promise<void> {
    await this.cluster.stopOperator();
  }

  memoryMB(): number {
    return rssMB(this.cluster.operatorPid);
  }

  workerMB(): number {
    this.largest = Math.max(this.largest, this.watch.workerMB);
    return this.largest;
  }

  assertRuns(): void {
    if (this.memoryMB() === 0) throw ended('cloud-operator', this.cluster.operatorLog());
  }

  /** Stops watching its memory. */
  close(): void {
    this.watch.stop();
  }

  private pid(): number {
    try {
      return this.cluster.operatorPid;
    } catch {
      return 0; // between two runs of it
    }
  }
}

/** cloud-provider-aws's, with its defaults. */
export class Upstream implements Contestant {
  readonly name = 'upstream';
  private readonly guard = ProcessGuard.open();
  private running: GuardedProcess | undefined;

  constructor(
    private readonly binary: string,
    private readonly corner: Corner,
  ) {}

  async start(): Promise<void> {
    const { cluster, config, url } = this.corner;
    const flags = ['--cloud-provider=aws', `--cloud-config=${config}`, `--kubeconfig=${cluster.kubeconfigPath}`, '--cluster-name=prod'];
    this.running = await this.guard.start({
      name: 'aws-cloud-controller-manager',
      command: this.binary,
      args: [...flags, '--leader-elect=false', '--configure-cloud-routes=false', '--secure-port=0'],
      cwd: cluster.directory,
      environment: { ...minimalEnvironment(), ...awsEnvironment(url, REGION) },
      log: this.log,
      graceMs: 10_000,
    });
  }

  async stop(): Promise<void> {
    await this.running?.stop();
    this.running = undefined;
  }

  memoryMB(): number {
    return rssMB(this.running?.pid ?? 0);
  }

  workerMB(): undefined {
    return undefined;
  }

  assertRuns(): void {
    if (this.running?.exit !== undefined) throw ended('aws-cloud-controller-manager', readFileSync(this.log, 'utf8'));
  }

  close(): Promise<void> {
    return this.guard.close();
  }

  private get log(): string {
    return join(this.corner.cluster.directory, 'logs', 'upstream.log');
  }
}

function ended(name: string, log: string): OperatorError {
  const last = log.trimEnd().split('\n').slice(-10);
  return new OperatorError('Unknown', `${name} has ended:\n${last.map((line) => `  ${line}`).join('\n')}`);
}
