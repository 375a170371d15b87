import fc from 'fast-check';
import { lines, parseWatchEvent, SilenceTimer } from '../../../operator/kube/watch';
import { isExpired } from '../../../operator/kube/status';
import { FakeClock } from './fake-clock';

// eslint-disable-next-line @typescript-eslint/require-await
async function* chunksOf(bytes: Buffer, sizes: number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (let turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe('lines', () => {
  it('gives the same lines however the bytes are cut, inside characters too', async () => {
    const line = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => text.trim() !== '' && !text.includes('\n'));
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), async (texts, sizes) => {
        const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''), 'utf8');
        expect(await collect(lines(chunksOf(bytes, sizes)))).toEqual(texts.map((text) => Buffer.from(text, 'utf8').toString('utf8')));
      }),
      { timeout: 20_000 },
    );
  });

  it('gives the whole lines, then fails, when the stream ends inside one', async () => {
    const seen: string[] = [];
    const reading = (async () => {
      for await (const line of lines(chunksOf(Buffer.from('{"a":1}\n{"b"'), [5]))) seen.push(line);
    })();
    await expect(reading).rejects.toMatchObject({ code: 'Transient', message: 'the watch ended inside an event' });
    expect(seen).toEqual(['{"a":1}']);
  });

  it('holds no more than one line of the allowed length', async () => {
    const endless = chunksOf(Buffer.alloc(5000, 'x'), [100]);
    await expect(collect(lines(endless, 1000))).rejects.toMatchObject({ code: 'Transient' });
  });
});

describe('parseWatchEvent', () => {
  it('throws the Status of an ERROR event', () => {
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version: 1 (9)' };
    const read = () => parseWatchEvent('watch nodes', JSON.stringify({ type: 'ERROR', object: status }));
    expect(read).toThrow('watch nodes: 410 Expired: too old resource version: 1 (9)');
    let thrown: unknown;
    try {
      read();
    } catch (error) {
      thrown = error;
    }
    expect(isExpired(thrown)).toBe(true);
  });

  it.each(['not json', '{"type":"SURPRISE","object":{}}', '{"type":"ADDED"}', '{}'])('refuses %s', (line) => {
    expect(() => parseWatchEvent('watch nodes', line)).toThrow('watch nodes: the watch sent');
  });
});

describe('SilenceTimer', () => {
  it('aborts after silence only, with the newest limit', async () => {
    const clock = new FakeClock();
    const timer = new SilenceTimer('watch nodes', 1000, clock);
    await clock.advance(900);
    timer.heard();
    await clock.advance(900);
    expect(timer.signal.aborted).toBe(false);
    timer.heard(5000);
    await clock.advance(4900);
    expect(timer.signal.aborted).toBe(false);
    await clock.advance(200);
    expect(timer.signal.aborted).toBe(true);
    expect((timer.signal.reason as Error).message).toBe('watch nodes: nothing heard for 5 s');
    timer.stop();
    expect(clock.pending()).toEqual([]);
  });
});
