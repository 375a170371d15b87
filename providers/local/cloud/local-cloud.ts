import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { systemClock } from '../../../operator/base/clock';
import { makeFolder } from '../../../operator/base/folder';
import type { Logger } from '../../../operator/base/log';
import type { Topology } from '../api';
import { Admin } from './admin';
import { Calls } from './calls';
import { Cloud } from './cloud';
import type { LocalCloudConfig } from './config';
import type { DataPlane } from './data-plane';
import { createDataPlane, type DataPlaneOptions } from './data-plane/index';
import { Faults } from './faults';
import { lockDirectory } from './lock';
import { Metrics } from './metrics';
import { NullDataPlane } from './null-data-plane';
import { Server } from './server';
import { Service } from './service';
import { Store } from './store';
import { readOrMakeToken } from './token';

/** A local cloud that runs in this process. */
export interface LocalCloud {
  endpoint: string;
  token: string;
  topology: Topology;
  /** Resolves with the reason when the cloud can't go on: its journal can't be written. */
  broken: Promise<Error>;
  /** Ends calls, data plane and journal, in this order. */
  stop(): Promise<void>;
}

/**
 * Starts a local cloud: lock, token, journal, data plane, server.
 * @throws OperatorError when one of them can't be had; nothing is left running then
 */
export async function startLocalCloud(config: LocalCloudConfig, logger: Logger): Promise<LocalCloud> {
  makeFolder(config.directory, 0o700);
  const undo = new Cleanup();
  undo.add(await lockDirectory(config.directory));
  try {
    return await start(config, logger, undo);
  } catch (error) {
    await undo.run();
    throw error;
  }
}

async function start(config: LocalCloudConfig, logger: Logger, undo: Cleanup): Promise<LocalCloud> {
  const token = await readOrMakeToken(config.tokenFile);
  const clock = systemClock;
  const now = (): number => clock.monotonic();
  let onFailure: (error: Error) => void = () => undefined;
  const broken = new Promise<Error>((resolve) => (onFailure = resolve));
  const store = new Store({ directory: config.directory, now, onFailure });
  const { records, tornBytes } = await store.open();
  undo.add(() => store.close());
  if (tornBytes > 0)
    logger.warn({ tornBytes }, 'the last record of the journal was not finished; nobody was told of it, and it is dropped');

  const plane = await openDataPlane(config, { directory: join(config.directory, 'data-plane'), logger });
  undo.add(() => plane.stop());
  await plane.start();
  const cloud = new Cloud({ store, plane, clock, logger, randomHex: (digits) => randomBytes(digits / 2).toString('hex') });
  undo.add(() => cloud.stop());
  await cloud.start();

  const calls = new Calls();
  const faults = new Faults(now);
  const metrics = new Metrics(store, faults);
  const kill = (): void => void process.kill(process.pid, 'SIGKILL');
  const service = new Service({ cloud, store, faults, calls, clock, logger, kill });
  const server = new Server({ service, admin: new Admin({ cloud, store, plane, calls, faults, metrics }), metrics, clock, token });
  const endpoint = await server.listen(config.listen);
  undo.add(() => server.close());
  logger.info({ endpoint, tier: plane.topology.tier, reason: plane.topology.reason, records }, 'the local cloud is ready');
  return { endpoint, token, topology: plane.topology, broken, stop: () => undo.run() };
}

async function openDataPlane({ tier, namespace }: LocalCloudConfig, options: DataPlaneOptions): Promise<DataPlane> {
  if (tier === 'none') return new NullDataPlane();
  return createDataPlane(tier, { ...options, ...(namespace !== undefined && { namespace }) });
}

/** What must be undone, last first. */
class Cleanup {
  private readonly steps: (() => Promise<void>)[] = [];
  private running: Promise<void> | undefined;

  add(step: () => Promise<void>): void {
    this.steps.push(step);
  }

  /** Runs every step even when one fails, once; throws the first failure. */
  run(): Promise<void> {
    this.running ??= this.undo();
    return this.running;
  }

  private async undo(): Promise<void> {
    const failures: unknown[] = [];
    for (const step of this.steps.toReversed()) await step().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }
}
