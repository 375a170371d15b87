import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '../../../../operator/base/errors';
import { CLOUD_NUMBERS } from './address-plan';

/** Who holds a number: written to a file of that name in a folder that all clouds of this machine share. */
export interface Claim {
  number: number;
  /** Folder of the cloud's data: as long as it is there, its addresses are kept for it. */
  directory: string;
  /** Short and unique: part of the names of everything the data plane makes. */
  id: string;
  pid: number;
  /** With the pid it tells one process from a later one of the same number. */
  startedAt: string;
}

/** Where the claims are; the same for all users of the machine. */
const CLAIMS = join(tmpdir(), 'localcloud-numbers');

/**
 * Takes a number for the cloud in `directory`: its former one, else one that no other cloud has.
 * @param usable says whether the machine's own networks leave the number's ranges free
 * @throws OperatorError Conflict when another live process runs this cloud, Quota when all numbers are taken
 */
export function claimNumber(directory: string, id: string | undefined, usable: (number: number) => boolean): Claim {
  prepareFolder();
  const claims = readClaims();
  const own = claims.find((claim) => claim.directory === directory);
  if (own !== undefined && own.pid !== process.pid && isAlive(own)) {
    throw new OperatorError('Conflict', `the local cloud in ${directory} is already running as process ${own.pid}; stop it first`);
  }
  const digest = createHash('sha256').update(directory).digest('hex');
  if (own !== undefined) return take({ ...own, id: id ?? own.id }, own);
  const wanted = { directory, id: id ?? digest.slice(0, 6) };
  for (const { number, before } of candidates(claims, parseInt(digest.slice(0, 8), 16), usable)) {
    const claim = tryTake({ ...wanted, number, pid: 0, startedAt: '' }, before);
    if (claim !== undefined) return claim;
  }
  throw new OperatorError(
    'Quota',
    `all ${CLOUD_NUMBERS} address ranges for local clouds are taken; remove unused clouds listed in ${CLAIMS}`,
  );
}

/** Claims of clouds that no process runs: what they left in the kernel may be removed. */
export function endedClouds(): Claim[] {
  prepareFolder();
  return readClaims().filter((claim) => !isAlive(claim));
}

/** Says that no process runs the cloud any more; its number stays with it as long as its folder is there. */
export function releaseNumber(claim: Claim): void {
  const file = join(CLAIMS, String(claim.number));
  if (existsSync(claim.directory)) writeFileSync(file, JSON.stringify({ ...claim, pid: 0, startedAt: '' }));
  else rmSync(file, { force: true });
}

/** Numbers that can be had, free ones first, then those of clouds that are gone for good; from `first` on, so that clouds rarely meet. */
function candidates(claims: Claim[], first: number, usable: (number: number) => boolean): { number: number; before?: Claim }[] {
  const held = new Map(claims.map((claim) => [claim.number, claim]));
  const numbers = Array.from({ length: CLOUD_NUMBERS }, (_, step) => (first + step) % CLOUD_NUMBERS).filter(usable);
  const free = numbers.filter((number) => !held.has(number)).map((number) => ({ number }));
  const abandoned = numbers.flatMap((number) => {
    const before = held.get(number);
    return before !== undefined && !isAlive(before) && !existsSync(before.directory) ? [{ number, before }] : [];
  });
  return [...free, ...abandoned];
}

function prepareFolder(): void {
  mkdirSync(CLAIMS, { recursive: true });
  // Clouds of other users must be able to claim, and must not remove ours.
  if (statSync(CLAIMS).uid === process.getuid?.()) chmodSync(CLAIMS, 0o1777);
}

/** undefined: another cloud was faster, or the claim is another user's. */
function tryTake(claim: Claim, before: Claim | undefined): Claim | undefined {
  try {
    return take(claim, before);
  } catch (error) {
    if (['EEXIST', 'EACCES', 'EPERM', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/** True while the process that wrote the claim runs. */
function isAlive(claim: Claim): boolean {
  return claim.pid > 0 && startOf(claim.pid) === claim.startedAt;
}

function take(claim: Claim, before: Claim | undefined): Claim {
  const taken = { ...claim, pid: process.pid, startedAt: startOf(process.pid) ?? '' };
  const file = join(CLAIMS, String(claim.number));
  if (before !== undefined) unlinkSync(file);
  writeFileSync(file, JSON.stringify(taken), { flag: 'wx', mode: 0o644 });
  return taken;
}

function readClaims(): Claim[] {
  return readdirSync(CLAIMS).flatMap((name) => {
    try {
      return [JSON.parse(readFileSync(join(CLAIMS, name), 'utf8')) as Claim];
    } catch {
      // Half written by a cloud that starts at this moment, or just removed: its number shows as taken when we try it.
      return [];
    }
  });
}

/** What tells the process of this number from a later one; undefined when there is none. */
function startOf(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return undefined;
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    // No /proc on this system: the pid alone has to do.
    return 'unknown';
  }
}
