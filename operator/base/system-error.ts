/** What the operating system has refused, in words for the one who can mend it. */
export interface SystemError {
  /** Names the path or address, and what is wrong with it. */
  message: string;
  remedy: string;
  /** Not the system is at fault, but what was named: the path or address can't be used as it is. */
  unusable: boolean;
}

const NAME_ANOTHER = 'name another path, or move away what is in its place';
const ALLOW = 'let this user do that (owner and mode of it and of its folders), or name another path';
const SPACE =
  'free some space, or use another disk; TMPDIR, XDG_CACHE_HOME and XDG_DATA_HOME say where temporary files, tools and data are';

/** Of the codes in errno(3), those that whoever starts a command may meet. */
const UNUSABLE: Readonly<Record<string, string>> = {
  ENOENT: 'name one that is there',
  ENOTDIR: NAME_ANOTHER,
  EISDIR: 'it is a folder: name a file',
  EEXIST: NAME_ANOTHER,
  ENOTEMPTY: NAME_ANOTHER,
  EACCES: ALLOW,
  EPERM: ALLOW,
  EROFS: 'name a path on a file system that can be written to',
  ELOOP: 'its symbolic links lead in a circle: name another path',
  ENAMETOOLONG: 'name a shorter path',
  EADDRINUSE: 'another process listens there: end that, or name another port',
  EADDRNOTAVAIL: 'name an address that this machine has',
};
const FAILING: Readonly<Record<string, string>> = {
  ENOSPC: SPACE,
  EDQUOT: SPACE,
  EMFILE: 'raise the limit of open files: ulimit -n',
  ENFILE: 'the machine has too many files open: end what holds them',
  EBUSY: 'something uses it: end that and try again',
  ETXTBSY: 'it is being run or written: wait until that has ended',
  EIO: 'the disk or file system has failed: look into the log of the system',
};

/** @returns undefined for anything but an error of a system call */
export function systemErrorOf(thrown: unknown): SystemError | undefined {
  const { code, syscall, path, message } = (thrown ?? {}) as Partial<NodeJS.ErrnoException>;
  if (code === undefined || syscall === undefined || message === undefined) return undefined;
  const unusable = Object.hasOwn(UNUSABLE, code);
  const remedy = unusable ? UNUSABLE[code] : FAILING[code];
  if (remedy === undefined) return undefined;
  if (syscall.startsWith('spawn')) return { message: `${path} can't be started (${code})`, remedy, unusable };
  const where = path === undefined ? '' : `${path}: `;
  const what = /^E[A-Z0-9]+: ([^,]+)/.exec(message)?.[1];
  return { message: what === undefined ? message : `${where}${what} (${code}, ${syscall})`, remedy, unusable };
}
