import { OperatorError, toOperatorError } from '../../../base/errors';
import { toWire, type WireError } from '../../protocol';
import type { ExtensionModule } from '../../extension-module';
import { guardProcess } from '../guards';
import { loadExtension } from './load';

/** What this process says of an extension. */
export type Inspection = { exports: string[] } | { error: WireError };

/** A process that loads an extension, says what it exports, and ends: the operator must not run it, and can't know otherwise. Argument: the module as JSON. */
function inspect(module: ExtensionModule): Inspection {
  guardProcess(() => undefined);
  try {
    return { exports: Object.keys(loadExtension(module)) };
  } catch (thrown) {
    const error = thrown instanceof OperatorError ? thrown : toOperatorError(thrown);
    return { error: toWire(error) };
  }
}

process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
process.send?.(inspect(JSON.parse(process.argv[2] ?? '{}') as ExtensionModule));
