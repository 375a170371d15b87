import { hashJson } from '../base/json';
import type { ExtensionUse, StackUpdate } from './update';

/** Hash of everything that decides what the program makes: equal hashes need no update. Empty for a destroy. Pure. */
export function updateHash({
  inputs,
  programVersion,
  providerKind,
  extension,
}: Pick<StackUpdate, 'inputs' | 'programVersion' | 'providerKind' | 'extension'>): string {
  return inputs === undefined ? '' : hashJson({ inputs, programVersion, providerKind, extension: hashedPart(extension) });
}

/** Digest of the extension that changes what the provider's program makes; undefined = none does. Pure. */
export function transformOf(use: ExtensionUse | undefined): string | undefined {
  return use?.role === 'transform' ? use.module.digest : undefined;
}

/** What counts is what an extension says, not where its file is. Without one the hash is as if there were no extensions. */
function hashedPart(use: ExtensionUse | undefined): object | undefined {
  return use === undefined ? undefined : { ...use, module: use.module?.digest };
}
