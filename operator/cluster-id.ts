import { sleep, type Clock } from './base/clock';
import { toOperatorError } from './base/errors';
import type { Logger } from './base/log';
import type { KubeClient } from './kube/client';
import { NAMESPACES, type KubeObject } from './kube/object';
import { statusOf } from './kube/status';

const API_SERVER_RETRY_MS = 1_000;
const REFUSED_RETRY_MS = 5_000;

export interface ClusterIDOptions {
  api: Pick<KubeClient, 'get'>;
  clock: Clock;
  logger: Logger;
}

/** UID of the Namespace kube-system. Who may not read it can still look after Nodes (design: Bootstrap). */
export class ClusterID {
  /** Resolves once it could be read. */
  readonly known: Promise<string>;
  private readonly refused: Promise<void>;

  constructor(
    private readonly options: ClusterIDOptions,
    signal: AbortSignal,
  ) {
    let markRefused: () => void = () => undefined;
    this.refused = new Promise((resolve) => (markRefused = resolve));
    this.known = this.readUntilKnown(signal, markRefused);
    // Whoever waits for it sees why; nobody has to wait.
    this.known.catch(() => undefined);
  }

  /**
   * Waits for an API server that is not there yet.
   * @returns undefined when reading it is refused: it is tried again for as long as it takes
   * @throws the signal's reason, or what the API server says that is neither for now nor a missing rule
   */
  async first(): Promise<string | undefined> {
    return Promise.race([this.known, this.refused.then(() => undefined)]);
  }

  private async readUntilKnown(signal: AbortSignal, markRefused: () => void): Promise<string> {
    const { api, clock, logger } = this.options;
    let told = '';
    for (;;) {
      let waitMs = API_SERVER_RETRY_MS;
      try {
        const namespace = await api.get<KubeObject>(NAMESPACES, 'kube-system');
        if (namespace !== undefined) return namespace.metadata.uid;
        logger.warn('namespace kube-system is not there yet');
      } catch (thrown) {
        const error = toOperatorError(thrown);
        // Not 401: whoever the API server doesn't know has no right to anything.
        const forbidden = statusOf(error)?.code === 403;
        if (error.code !== 'Transient' && error.code !== 'Throttled' && !forbidden) throw error;
        if (error.message !== told) logger.warn({ error: error.message }, forbidden ? NODES_ONLY : 'the API server does not answer yet');
        told = error.message;
        if (forbidden) markRefused();
        if (forbidden) waitMs = REFUSED_RETRY_MS;
      }
      await sleep(clock, waitMs, signal);
    }
  }
}

const NODES_ONLY = 'the cluster’s id can’t be read: only Nodes are looked after until it can';
