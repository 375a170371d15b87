import { existsSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { sleep, systemClock } from '../../operator/base/clock';

/**
 * The kernel writes the table while connections come and go, and a row can be missing from one reading, from several on a busy machine. A
 * refused engine fails its update, so the looking goes on for so long, in milliseconds, before a connection counts as somebody else's.
 */
const LOOK_MS = 2_000;
const PAUSE_MS = 20;

/**
 * Tells whether a loopback connection belongs to a process: its socket is one of the process's open files (Linux's /proc).
 * Every process of the host can reach a loopback port, more so in the host's network namespace, and the resource provider holds credentials.
 * Where /proc has no such table (other systems) the answer is true: there the random port is the only guard.
 * @param peer `127.0.0.1:port` as gRPC names the other end
 * @param port ours, on 127.0.0.1
 */
export async function connectionBelongsTo(pid: number, peer: string, port: number): Promise<boolean> {
  const deadline = systemClock.monotonic() + LOOK_MS;
  for (;;) {
    const table = await readFile('/proc/net/tcp', 'latin1').catch(() => undefined);
    if (table === undefined || (await holdsSocket(pid, socketInode(table, peer, port)))) return true;
    if (systemClock.monotonic() >= deadline || !existsSync(`/proc/${pid}`)) return false;
    await sleep(systemClock, PAUSE_MS);
  }
}

async function holdsSocket(pid: number, inode: string | undefined): Promise<boolean> {
  if (inode === undefined) return false;
  const folder = `/proc/${pid}/fd`;
  const files = await readdir(folder).catch(() => []);
  for (const file of files) {
    if ((await readlink(`${folder}/${file}`).catch(() => '')) === `socket:[${inode}]`) return true;
  }
  return false;
}

/**
 * Finds the inode of the socket that connects `peer` to 127.0.0.1:`port` in a table in the format of /proc/net/tcp. Pure. Both ends count: on a busy
 * machine the kernel gives one local port to several connections that go to different ports.
 */
export function socketInode(table: string, peer: string, port: number): string | undefined {
  const ends = [addressWord(peer), addressWord(`127.0.0.1:${port}`)].join();
  const rows = table.split('\n').map((row) => row.trim().split(/\s+/));
  // A connection between the same ends that was closed a moment ago (TIME_WAIT) has inode 0 and may come first.
  return rows.find((columns) => columns.slice(1, 3).join() === ends && columns[9] !== '0')?.[9];
}

/** An IPv4 address with its port as the table writes it: the address as one little-endian word. */
function addressWord(text: string): string | undefined {
  const match = /^(\d+)\.(\d+)\.(\d+)\.(\d+):(\d+)$/.exec(text);
  if (match === null) return undefined;
  const hex = (value: number, width: number): string => value.toString(16).toUpperCase().padStart(width, '0');
  const address = [match[4], match[3], match[2], match[1]].map((part) => hex(Number(part), 2)).join('');
  return `${address}:${hex(Number(match[5]), 4)}`;
}
