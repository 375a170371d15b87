import { rmSync } from 'node:fs';
import { OperatorError, toOperatorError } from '../../operator/base/errors';
import { makeFolder } from '../../operator/base/folder';
import { identifyProcess } from '../../tools/live-process';
import { tryLock } from '../../tools/lock';
import { DevCluster, type DevClusterOptions } from './dev-cluster';
import { devPathsIn } from './paths';
import { writeState, type DevState } from './state';

/**
 * Keeps one development cluster up: holds its lock, writes its state for `status`, and ends it all when told to or when the control plane breaks.
 */
export class Supervisor {
  private readonly state: DevState;
  private readonly paths;
  private cluster: DevCluster | undefined;

  constructor(private readonly options: DevClusterOptions) {
    this.paths = devPathsIn(options.directory);
    this.state = { supervisor: identifyProcess(), phase: 'Starting', startedAt: new Date().toISOString(), processes: [] };
    if (options.extension !== undefined) this.state.extension = options.extension;
    if (options.nodes !== undefined) this.state.nodes = options.nodes;
  }

  /**
   * Starts everything, calls `onReady`, and resolves once all has ended again.
   * @param signal ends it
   * @throws OperatorError Conflict when the cluster is up already; Canceled when it was ended before it was ready; another when a part can't be started or the control plane ended by itself
   */
  async run(signal: AbortSignal, onReady: (state: DevState) => void): Promise<void> {
    makeFolder(this.paths.root, 0o700);
    const lock = tryLock(this.paths.lock);
    if ('owner' in lock) throw new OperatorError('Conflict', `the development cluster is up already: process ${lock.owner.pid} keeps it`);
    try {
      this.write();
      await this.keep(signal, onReady);
      rmSync(this.paths.state, { force: true });
    } catch (thrown) {
      this.state.phase = 'Failed';
      this.state.failure = toOperatorError(thrown).message;
      writeState(this.paths.state, this.state); // for `status`, until the next `up` or `down`
      throw thrown;
    } finally {
      lock.release();
    }
  }

  private async keep(signal: AbortSignal, onReady: (state: DevState) => void): Promise<void> {
    const report = (line: string): void => {
      this.options.report(line);
      this.write();
    };
    const cluster = await DevCluster.start({ ...this.options, report, signal });
    this.cluster = cluster;
    try {
      this.state.phase = 'Ready';
      this.write();
      onReady(this.state);
      const failure = await Promise.race([aborted(signal), cluster.controlPlaneFailed()]);
      if (failure !== undefined) throw new OperatorError('Unknown', failure);
    } finally {
      this.state.phase = 'Stopping';
      this.write();
      await cluster.stop();
    }
  }

  private write(): void {
    const { cluster, state } = this;
    if (cluster !== undefined) {
      const { endpoint, tokenFile, tier, reason } = cluster.cloud;
      state.kubeconfig = cluster.controlPlane.kubeconfigPath;
      state.apiServer = cluster.controlPlane.url;
      state.cloud = { endpoint, tokenFile, tier, reason };
      state.cloudConfig = this.paths.operatorConfig;
      state.processes = cluster.processes;
      if (cluster.operatorURL !== undefined) state.operator = cluster.operatorURL;
    }
    writeState(this.paths.state, state);
  }
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}
