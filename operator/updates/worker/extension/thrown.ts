import { dirname } from 'node:path';

const MAX_FRAMES = 6;
const MAX_MESSAGE = 600;

/**
 * What an extension threw, for a condition: the message and the stack trace through the extension's own files and packages, with short paths. Pure.
 * @param entry path of the extension's module, whose folder the paths are relative to
 */
export function describeThrown(thrown: unknown, entry: string): string {
  if (!isErrorLike(thrown)) return `it threw ${shown(thrown)}, which is no Error`;
  const lines = (thrown.stack ?? '').split('\n');
  const shorten = (text: string): string => shortenPaths(text, dirname(entry));
  const frames = lines.filter((line) => /^\s+at\s/.test(line)).map((line) => shorten(line.trim()));
  const told = frames.filter(isTheirs).slice(0, MAX_FRAMES);
  // Syntax errors carry their place in the first line, and no frame of the file.
  const place = told.length > 0 ? undefined : /^(?:file:\/\/)?\/\S+:\d+$/.exec(lines[0] ?? '')?.[0];
  const message = shorten(`${thrown.name}: ${thrown.message}`).slice(0, MAX_MESSAGE);
  return [message, ...(place === undefined ? told : [`at ${shorten(place)}`])].join('\n    ');
}

/** Folders that lead to the extension, or to a package, say nothing to a reader. */
function shortenPaths(text: string, folder: string): string {
  return text
    .replaceAll('file://', '')
    .replaceAll(`${folder}/`, '')
    .replace(/\/[^\s():]*\/node_modules\//g, '');
}

/** Frames of Node and of the operator are left out: they are the same for every mistake. Those have absolute paths or `node:` still. */
function isTheirs(frame: string): boolean {
  return !/[ (](?:\/|node:|__cloudOperator|evalmachine)/.test(frame);
}

function isErrorLike(thrown: unknown): thrown is Error {
  return typeof thrown === 'object' && thrown !== null && 'message' in thrown && typeof thrown.message === 'string';
}

function shown(thrown: unknown): string {
  return typeof thrown === 'string' ? JSON.stringify(thrown.slice(0, MAX_MESSAGE)) : String(thrown);
}
