import { closeSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { removeLink, run } from './commands';
import { hostLink, namespacePrefix } from './network';

/** Where `ip netns` keeps names. */
export const NAMED = '/run/netns';

/** Makes and removes network namespaces, each behind a file. */
export interface Namespaces {
  /** @returns path of the new namespace @throws OperatorError when there is one of that name, or none can be made */
  create(name: string): Promise<string>;
  remove(name: string): Promise<void>;
}

/** For root: names that `ip netns` shows and that `ip netns exec` takes. */
export const namedNamespaces: Namespaces = {
  create: async (name) => {
    await run(['ip', 'netns', 'add', name]);
    return join(NAMED, name);
  },
  remove: async (name) => {
    await run(['ip', 'netns', 'delete', name]);
  },
};

/** For the rest: files in a folder of ours, seen from inside the agent's mount namespace only. */
export function fileNamespaces(folder: string): Namespaces {
  return {
    create: async (name) => {
      mkdirSync(folder, { recursive: true });
      const path = join(folder, name);
      // An agent that was killed left the file; what was mounted on it went with its mount namespace.
      rmSync(path, { force: true });
      closeSync(openSync(path, 'wx'));
      await run(['unshare', `--net=${path}`, 'true']);
      return path;
    },
    remove: async (name) => {
      const path = join(folder, name);
      await run(['umount', path]);
      rmSync(path);
    },
  };
}

/** Names of the namespaces that `ip netns` shows for a cloud. */
export function namespacesOf(id: string): string[] {
  try {
    return readdirSync(NAMED).filter((name) => name.startsWith(namespacePrefix(id)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Removes what a cloud that has ended left in the kernel: its namespaces, with them its links and routes.
 * @throws OperatorError when one of them can't be removed
 */
export async function removeLeftovers(id: string): Promise<void> {
  for (const name of namespacesOf(id)) {
    await run(['ip', 'netns', 'delete', name]).catch((error: unknown) => {
      // Its agent may be at it too.
      if (namespacesOf(id).includes(name)) throw error;
    });
  }
  // Left only where the other end's namespace is kept by a process that is still ending.
  await removeLink(hostLink(id));
}
