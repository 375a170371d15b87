import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, normalize, relative, resolve } from 'node:path';
import { OperatorError } from '../base/errors';

/** The module of an extension in code: where it is, and what it is made of. The operator process reads it but never runs it. */
export interface ExtensionModule {
  /** Absolute path of its entry file. */
  path: string;
  /** Hash of the entry file and of every file that it imports by a relative path, directly or not. */
  digest: string;
}

const ENDINGS = ['', '.ts', '.js', '.mts', '.mjs', '.cts', '.cjs', '.json', '/index.ts', '/index.js'];
/** `from './x'`, `import './x'`, `import('./x')`, `require('./x')`, and the same of a folder, `'..'`. One too many, such as in a comment, does no harm. */
const LOCAL_IMPORT = /\b(?:from|import|require)\s*\(?\s*(['"`])(\.{1,2}(?:\/[^'"`]*)?)\1/g;
/** It can only be a folder, whatever file is named like it. */
const FOLDER = /(?:^|\/)\.{1,2}$/;

/**
 * Finds the module that `--extension` names, and hashes it.
 * @param name a path, or the name of an installed package
 * @param directory what the name is resolved from
 * @throws OperatorError Invalid when there is no such file or package, or it can't be read
 */
export function findExtension(name: string, directory: string): ExtensionModule {
  const path = findFile(resolve(directory, name)) ?? findPackage(name, directory);
  if (path === undefined) {
    throw new OperatorError('Invalid', `--extension ${name}: there is no such file or package, looked for from ${directory}`, {
      remedy: 'Give the path of a module, or the name of a package that is installed there.',
    });
  }
  return { path, digest: digestOf(path) };
}

/**
 * Hash of a module and its local imports. Names count relative to the entry, so that the same files elsewhere have the same hash; packages don't.
 * @throws OperatorError Invalid when the entry can't be read
 */
export function digestOf(path: string): string {
  const contents = new Map<string, Buffer>();
  const waiting = [path];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (contents.has(file)) continue;
    const content = read(file);
    contents.set(file, content);
    waiting.push(...localImports(file, content.toString('utf8')));
  }
  const hash = createHash('sha256');
  const named = [...contents].map(([file, content]) => ({ name: relative(dirname(path), file), content }));
  for (const { name, content } of named.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    hash.update(`${name}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 32);
}

/** True where a module's text imports files by relative paths. */
export function importsOwnFiles(text: string): boolean {
  return text.search(LOCAL_IMPORT) !== -1;
}

function localImports(file: string, text: string): string[] {
  const names = [...text.matchAll(LOCAL_IMPORT)].map(([, , name = '']) => (FOLDER.test(name) ? `${name}/` : name));
  const found = names.map((name) => findFile(join(dirname(file), name))).filter((one) => one !== undefined);
  return found.map((one) => normalize(one));
}

function findFile(path: string): string | undefined {
  return ENDINGS.map((ending) => `${path}${ending}`).find((file) => statSync(file, { throwIfNoEntry: false })?.isFile() === true);
}

function findPackage(name: string, directory: string): string | undefined {
  try {
    return createRequire(join(directory, 'extension')).resolve(name);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined;
    throw new OperatorError('Invalid', `--extension ${name}: ${(thrown as Error).message}`, { cause: thrown });
  }
}

function read(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'error';
    throw new OperatorError('Invalid', `the extension's file ${file} can't be read (${code})`, { cause });
  }
}
