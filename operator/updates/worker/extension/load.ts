import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Extension } from '../../../../extensions';
import { OperatorError } from '../../../base/errors';
import { compiled } from '../../../entry';
import { digestOf, type ExtensionModule } from '../../extension-module';
import { within } from './time-limit';
import { describeThrown } from './thrown';

/** A provider's SDK takes seconds to load on a slow machine; more than this is a loop. */
const LOAD_LIMIT_MS = 30_000;

const OWN_NAME = 'cloud-operator/extensions';
const PULUMI = /^@pulumi\/pulumi(\/|$)/;

const load = createRequire(__filename);
let isHooked = false;

/**
 * Loads an extension in this process, which must be a worker's. Once loaded it stays, as every module does.
 * @throws OperatorError Invalid when it can't be loaded or exports the wrong things; Transient when its files are not those of the digest
 */
export function loadExtension(module: ExtensionModule): Extension {
  hookResolution();
  assertSameFiles(module);
  let exported: unknown;
  try {
    exported = within(LOAD_LIMIT_MS, `loading the extension ${nameOf(module)}`, () => load(module.path) as unknown);
  } catch (thrown) {
    if (thrown instanceof OperatorError) throw thrown;
    throw new OperatorError('Invalid', `the extension ${nameOf(module)} can't be loaded: ${describeThrown(thrown, module.path)}`, {
      cause: thrown,
    });
  }
  return checked(exported, module);
}

/** The module's file as people know it: without the folders that lead to it. */
export function nameOf({ path }: ExtensionModule): string {
  return path.split('/').slice(-2).join('/');
}

/**
 * An extension may be anywhere: there `cloud-operator/extensions` is not installed, and a second copy of the Pulumi SDK would know nothing of
 * the running update.
 */
function hookResolution(): void {
  if (isHooked) return;
  isHooked = true;
  const own = pathToFileURL(compiled('extensions/index')).href;
  const parentURL = pathToFileURL(__filename).href;
  registerHooks({
    resolve: (specifier, context, next) => {
      if (specifier === OWN_NAME) return { url: own, format: 'commonjs', shortCircuit: true };
      return next(specifier, PULUMI.test(specifier) ? { ...context, parentURL } : context);
    },
  });
}

/** What the operator hashed is what must run, else the stored hash would lie. */
function assertSameFiles(module: ExtensionModule): void {
  if (digestOf(module.path) === module.digest) return;
  throw new OperatorError('Transient', `the extension ${nameOf(module)} was changed on disk after the operator had started`, {
    remedy: 'Restart the operator: it then rolls the change out.',
  });
}

function checked(exported: unknown, module: ExtensionModule): Extension {
  const namespace = (exported ?? {}) as Extension & { default?: Extension };
  const { transform, extra } = { ...namespace.default, ...namespace };
  for (const [name, value] of Object.entries({ transform, extra })) {
    if (value !== undefined && typeof value !== 'function') throw nonsense(module, `exports ${name}, but it is no function`);
  }
  if (transform === undefined && extra === undefined) throw nonsense(module, 'exports neither transform nor extra');
  return { ...(transform === undefined ? {} : { transform }), ...(extra === undefined ? {} : { extra }) };
}

function nonsense(module: ExtensionModule, what: string): OperatorError {
  return new OperatorError('Invalid', `the extension ${nameOf(module)} ${what}`, {
    remedy: 'Export the functions transform(resource) or extra(outputs), by name or in a default export.',
  });
}
