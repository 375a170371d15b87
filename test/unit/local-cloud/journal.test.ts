import { copyFile, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Journal, type CrashPoint } from '../../../providers/local/cloud/journal';
import { containing, temporaryDirectory } from './cloud-fixture';

describe('Journal', () => {
  let directory: string;
  let opened: Journal[];

  beforeEach(async () => {
    directory = await temporaryDirectory();
    opened = [];
  });
  afterEach(async () => {
    await Promise.all(opened.map((journal) => journal.close()));
    await rm(directory, { recursive: true });
  });

  async function open(options: { compactAtBytes?: number; image?: () => unknown; kill?: () => void } = {}) {
    const journal = new Journal({ directory, image: () => 'image', ...options });
    const recovered = await journal.open();
    opened.push(journal);
    return { journal, recovered };
  }

  async function write(...records: string[]) {
    const { journal } = await open();
    for (const record of records) await journal.append(record);
    await journal.close();
  }

  const file = () => join(directory, 'journal');

  test('gives back what was appended, in order', async () => {
    await write('a', 'b', 'ü\n');
    expect((await open()).recovered).toEqual({ records: ['a', 'b', 'ü\n'], tornBytes: 0 });
  });

  test('loses only the last record when the file ends at any byte of it, and goes on from there', async () => {
    await write('first', 'second');
    const before = (await stat(file())).size;
    await write('third, the last one');
    const whole = await readFile(file());
    for (let length = before; length < whole.length; length++) {
      await writeFile(file(), whole.subarray(0, length));
      const { journal, recovered } = await open();
      expect({ length, recovered }).toEqual({ length, recovered: { records: ['first', 'second'], tornBytes: length - before } });
      await journal.append('again');
      await journal.close();
      expect((await open()).recovered.records).toEqual(['first', 'second', 'again']);
    }
    expect(whole.length - before).toBeGreaterThan(20);
  });

  test('refuses a journal that is damaged at any byte before the last newline', async () => {
    await write('first', 'second', 'third');
    const whole = await readFile(file());
    for (let at = 0; at < whole.length - 1; at++) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] ?? 0) ^ 0x01;
      await writeFile(file(), damaged);
      await expect(open()).rejects.toMatchObject({ code: 'Invalid', message: containing('journal is damaged: line ') });
    }
  });

  test('refuses a journal from whose middle a record is missing', async () => {
    await write('first', 'second', 'third');
    const lines = (await readFile(file(), 'utf8')).split('\n');
    await writeFile(file(), [lines[0], lines[2], ''].join('\n'));
    await expect(open()).rejects.toMatchObject({ message: containing('records before it are missing') });
  });

  test('records that come at once are all durable when their promises resolve', async () => {
    const { journal } = await open();
    await Promise.all(Array.from({ length: 100 }, (_, index) => journal.append(index)));
    const copy = await readFile(file());
    expect(copy.toString().trim().split('\n')).toHaveLength(100);
  });

  test('a snapshot takes the place of the records', async () => {
    const { journal } = await open({ compactAtBytes: 100, image: () => ({ all: true }) });
    for (let index = 0; index < 20; index++) await journal.append(`record ${index}`);
    await journal.close();
    const { recovered } = await open();
    expect(recovered.snapshot).toEqual({ all: true });
    expect(recovered.records.length).toBeLessThan(5);
    expect((await stat(file())).size).toBeLessThan(200);
  });

  test('dying between snapshot and truncation repeats no record', async () => {
    const { journal } = await open();
    await journal.append('one');
    await journal.append('two');
    await journal.close();
    await copyFile(file(), join(directory, 'kept'));
    const again = await open({ compactAtBytes: 1, image: () => 'one and two' });
    await again.journal.append('three');
    await again.journal.close();
    await copyFile(join(directory, 'kept'), file());
    expect((await open()).recovered).toEqual({ snapshot: 'one and two', records: [], tornBytes: 0 });
  });

  test('a damaged snapshot is refused', async () => {
    const { journal } = await open({ compactAtBytes: 1 });
    await journal.append('one');
    await journal.close();
    await truncate(join(directory, 'snapshot'), 15);
    await expect(open()).rejects.toMatchObject({ message: containing('snapshot is damaged') });
  });

  test.each<[CrashPoint, string[], boolean]>([
    ['before', ['whole'], false],
    ['torn', ['whole'], true],
    ['after', ['whole', 'last'], false],
  ])('crash %s: the disk holds %j', async (crash, records, torn) => {
    let resolveKilled: () => void = () => undefined;
    const killed = new Promise<void>((resolve) => (resolveKilled = resolve));
    const { journal } = await open({ kill: resolveKilled });
    await journal.append('whole');
    const last = journal.append('last', crash);
    await killed;
    await last;
    await journal.close();
    const { recovered } = await open();
    expect({ records: recovered.records, torn: recovered.tornBytes > 0 }).toEqual({ records, torn });
  });

  test('after a failed write nothing is accepted any more, and the reason is told', async () => {
    const failures: Error[] = [];
    const journal = new Journal({ directory, image: () => 'image', onFailure: (error) => failures.push(error) });
    await journal.open();
    await journal.append('one');
    // A closed file is the nearest thing to a disk that refuses.
    await journal.close();
    await expect(journal.append('two')).rejects.toMatchObject({ message: containing("can't be written") });
    await expect(journal.append('three')).rejects.toThrow();
    await expect(journal.durable()).rejects.toThrow();
    expect(failures).toHaveLength(1);
  });
});
