import { createLogger, type Logger } from '../../../operator/base/log';
import type { LocalCloudConfig } from './config';
import { startLocalCloud } from './local-cloud';

/** An orderly end that takes longer is cut off. */
const STOP_DEADLINE_MS = 10_000;

/**
 * Runs a local cloud in the foreground until SIGTERM, SIGINT or, with exitWithParent, the end of standard input. One JSON line on standard output says
 * that it is ready: `{"ready":true,"endpoint":…,"tier":…,"reason":…}`; logs go to standard error.
 * @returns the exit code: 0 after an orderly end, 1 when the cloud broke
 */
export async function serveLocalCloud(config: LocalCloudConfig): Promise<number> {
  const logger = createLogger('local-cloud', { level: config.logLevel ?? 'info' });
  const asked = waitForEnd(config.exitWithParent === true);
  const cloud = await startLocalCloud(config, logger);
  const { tier, reason } = cloud.topology;
  process.stdout.write(`${JSON.stringify({ ready: true, endpoint: cloud.endpoint, tier, reason })}\n`);
  const outcome = await Promise.race([asked, cloud.broken]);
  if (outcome instanceof Error) logger.fatal({ err: outcome }, 'the local cloud ends');
  else logger.info({ because: outcome }, 'the local cloud stops');
  const stopped = await stopInTime(() => cloud.stop(), logger);
  return stopped && !(outcome instanceof Error) ? 0 : 1;
}

/** Resolves with what asked for the end. */
function waitForEnd(withParent: boolean): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve(signal));
    if (!withParent) return;
    process.stdin.on('error', () => resolve('standard input failed'));
    process.stdin.on('end', () => resolve('standard input closed'));
    process.stdin.resume();
  });
}

async function stopInTime(stop: () => Promise<void>, logger: Logger): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => {
      logger.error(`not stopped within ${STOP_DEADLINE_MS} ms`);
      resolve(false);
    }, STOP_DEADLINE_MS);
  });
  const done = stop().then(
    () => true,
    (error: unknown) => {
      logger.error({ err: error }, 'stopping failed');
      return false;
    },
  );
  const stopped = await Promise.race([done, late]);
  clearTimeout(timer);
  return stopped;
}
