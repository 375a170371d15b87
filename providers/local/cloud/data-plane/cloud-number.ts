import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '../../../../operator/base/errors';
import { CLOUD_NUMBERS } from './address-plan';
import { withFolderLock } from './folder-lock';
import { namespacesOf } from './vpc/namespaces';

/** Who holds a number: written to a file of that name in a folder that all clouds of this machine share. */
export interface Claim {
  number: number;
  /** Folder of the cloud's data: as long as it is there, its addresses are kept for it. */
  directory: string;
  /** Short and unique: part of the names of everything the data plane makes. */
  id: string;
  /** 0 = no process runs the cloud. */
  pid: number;
  /** With the pid it tells one process from a later one of the same number. */
  startedAt: string;
}

export interface Wanted {
  directory: string;
  /** Absent = derived from the folder. */
  id?: string;
  /** Says whether the machine's own networks leave the number's ranges free. */
  usable: (number: number) => boolean;
}

/** The numbers of this machine's clouds: each cloud has one, and with it address ranges of its own, for as long as its folder is there. */
export class CloudNumbers {
  /** @param folder where the claims are; by default one that all users of the machine share */
  constructor(private readonly folder: string = join(tmpdir(), 'localcloud-numbers')) {
    mkdirSync(folder, { recursive: true });
    // Clouds of other users must be able to claim, and must not remove ours.
    if (statSync(folder).uid === process.getuid?.()) chmodSync(folder, 0o1777);
  }

  /**
   * Takes the cloud's former number, else one that no other cloud has.
   * @throws OperatorError Conflict when another live process runs this cloud, Quota when all numbers are taken
   */
  claim(wanted: Wanted): Claim {
    return withFolderLock(join(this.folder, 'lock'), () => this.take(wanted));
  }

  /** Says that no process runs the cloud any more. */
  release(claim: Claim): void {
    if (existsSync(claim.directory)) this.write({ ...claim, pid: 0, startedAt: '' });
    else rmSync(this.file(claim.number), { force: true });
  }

  /** Claims of clouds that no process runs: what they left in the kernel may be removed. */
  ended(): Claim[] {
    return this.read().filter((claim) => !isAlive(claim));
  }

  private take({ directory, id, usable }: Wanted): Claim {
    const claims = this.read();
    const own = claims.find((claim) => claim.directory === directory);
    if (own !== undefined && own.pid !== process.pid && isAlive(own)) {
      throw new OperatorError('Conflict', `the local cloud in ${directory} is already running as process ${own.pid}; stop it first`);
    }
    const digest = createHash('sha256').update(directory).digest('hex');
    const me = { pid: process.pid, startedAt: startOf(process.pid) ?? '', directory, id: id ?? own?.id ?? digest.slice(0, 6) };
    if (own !== undefined) return this.write({ ...me, number: own.number });
    for (const number of candidates(claims, parseInt(digest.slice(0, 8), 16), usable)) {
      const claim = { ...me, number };
      if (this.tryWrite(claim)) return claim;
    }
    const remedy = `delete the folders of clouds that are not used any more; ${this.folder} names them`;
    throw new OperatorError('Quota', `all ${CLOUD_NUMBERS} address ranges for local clouds are taken; ${remedy}`);
  }

  /** False where the claim there is another user's. */
  private tryWrite(claim: Claim): boolean {
    try {
      this.write(claim);
      return true;
    } catch (error) {
      if (['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
      throw error;
    }
  }

  private write(claim: Claim): Claim {
    writeFileSync(this.file(claim.number), JSON.stringify(claim), { mode: 0o644 });
    return claim;
  }

  private read(): Claim[] {
    return readdirSync(this.folder).flatMap((name) => {
      if (!/^\d+$/.test(name)) return [];
      try {
        return [JSON.parse(readFileSync(join(this.folder, name), 'utf8')) as Claim];
      } catch {
        // Cut short by a crash, or removed just now: nobody's.
        return [];
      }
    });
  }

  private file(number: number): string {
    return join(this.folder, String(number));
  }
}

/** Numbers that can be had, free ones first, then those of clouds that are gone for good; from `first` on, so that clouds rarely meet. */
function candidates(claims: Claim[], first: number, usable: (number: number) => boolean): number[] {
  const held = new Map(claims.map((claim) => [claim.number, claim]));
  const numbers = Array.from({ length: CLOUD_NUMBERS }, (_, step) => (first + step) % CLOUD_NUMBERS).filter(usable);
  const free = numbers.filter((number) => !held.has(number));
  const abandoned = numbers.filter((number) => isAbandoned(held.get(number)));
  return [...free, ...abandoned];
}

/** While there is something of it in the kernel, the claim is needed to find that. */
function isAbandoned(claim: Claim | undefined): boolean {
  return claim !== undefined && !isAlive(claim) && !existsSync(claim.directory) && namespacesOf(claim.id).length === 0;
}

/** True while the process that wrote the claim runs. */
function isAlive(claim: Claim): boolean {
  return claim.pid > 0 && startOf(claim.pid) === claim.startedAt;
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
