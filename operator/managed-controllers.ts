import { sleep, type Clock } from './base/clock';
import { OperatorError, toOperatorError } from './base/errors';
import type { Logger } from './base/log';
import { CONTROLLERS, type ControllerName } from './flags/controllers';
import type { HealthChecks } from './server/health';
import type { Metrics } from './server/metrics';

/** `reason` of the error when a controller can't work, and so the manager ends. */
export const CONTROLLER_FAILED = 'ControllerFailed';

/** One of the manager's controllers (contract 7.2). */
export interface ManagedController {
  name: ControllerName;
  /** Works until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** Looks at all its objects again. */
  requeueAll?(): void;
}

export interface ManagedControllersOptions {
  /** Pause between two starts: once to twice this, in milliseconds. */
  startIntervalMs: number;
  /** All objects are looked at again after once to twice this time, in milliseconds; 0 = never. */
  minResyncMs: number;
  health: HealthChecks;
  metrics: Metrics;
  clock: Clock;
  random: () => number;
  logger: Logger;
}

/** Starts the controllers in random order, as upstream does (contract 7.1), and shows which ones run. */
export class ManagedControllers {
  constructor(
    private readonly controllers: readonly ManagedController[],
    private readonly options: ManagedControllersOptions,
  ) {}

  /** Until the signal is aborted and all have ended. @throws OperatorError with the reason CONTROLLER_FAILED when one can't work */
  async run(signal: AbortSignal): Promise<void> {
    const running: Promise<void>[] = [this.resyncForEver(signal)];
    for (const [index, controller] of this.shuffled().entries()) {
      if (index > 0) await this.pause(this.options.startIntervalMs, signal);
      if (signal.aborted) break;
      running.push(this.runOne(controller, signal));
    }
    await Promise.all(running);
  }

  requeueAll(): void {
    this.controllers.forEach((controller) => controller.requeueAll?.());
  }

  private async runOne(controller: ManagedController, signal: AbortSignal): Promise<void> {
    const { name } = controller;
    const { health, metrics, logger } = this.options;
    const alias = CONTROLLERS.find((known) => known.name === name)?.alias ?? name;
    health.add(name, () => undefined);
    metrics.controllerRuns(alias, true);
    logger.info({ controller: name }, `Started ${JSON.stringify(name)}`);
    try {
      await controller.run(signal);
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      const { code, message } = toOperatorError(thrown);
      throw new OperatorError(code, `${name}: ${message}`, { cause: thrown, reason: CONTROLLER_FAILED });
    } finally {
      metrics.controllerRuns(alias, false);
      health.remove(name);
    }
  }

  private async resyncForEver(signal: AbortSignal): Promise<void> {
    const { minResyncMs } = this.options;
    while (minResyncMs > 0 && !signal.aborted) {
      await this.pause(minResyncMs, signal);
      if (!signal.aborted) this.requeueAll();
    }
  }

  private shuffled(): ManagedController[] {
    const placed = this.controllers.map((controller) => ({ controller, place: this.options.random() }));
    return placed.sort((a, b) => a.place - b.place).map(({ controller }) => controller);
  }

  /** Once to twice the time; an abort only ends the waiting. */
  private async pause(ms: number, signal: AbortSignal): Promise<void> {
    if (ms <= 0) return;
    const { clock, random } = this.options;
    await sleep(clock, ms * (1 + random()), signal).catch(() => undefined);
  }
}
