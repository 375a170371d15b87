import type { IncomingHttpHeaders } from 'node:http';

/** Something for people beneath one path, which only those see whom the API server lets `get` it. */
export interface ServedPage {
  /** `/ui`. */
  path: string;
  answer(url: URL, headers: IncomingHttpHeaders): PageAnswer;
}

export interface PageAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Whether a path is that one, or beneath it. Pure. */
export function isBelow(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
