import { StackQueue } from '../../../operator/updates/stack-queue';

interface Gate {
  item: string;
  open(result: string): void;
  fail(error: Error): void;
}

function gated(): { queue: StackQueue<string, string>; gates: Gate[] } {
  const gates: Gate[] = [];
  const queue = new StackQueue<string, string>(
    (item) => new Promise((resolve, reject) => gates.push({ item, open: resolve, fail: reject })),
    (older, newer) => `${older}+${newer}`,
  );
  return { queue, gates };
}

describe('StackQueue', () => {
  test('one after another in a stack, side by side otherwise; waiting ones are merged', async () => {
    const { queue, gates } = gated();
    const a1 = queue.push('a', '1');
    const b1 = queue.push('b', '1');
    const a2 = queue.push('a', '2');
    const a3 = queue.push('a', '3');
    expect(gates.map((gate) => gate.item)).toEqual(['1', '1']);
    gates[0]?.open('done 1');
    gates[1]?.open('done b');
    expect(await Promise.all([a1, b1])).toEqual(['done 1', 'done b']);
    expect(gates.map((gate) => gate.item)).toEqual(['1', '1', '2+3']);
    gates[2]?.open('done 2');
    expect(await Promise.all([a2, a3])).toEqual(['done 2', 'done 2']);
  });

  test('a failure is that item’s own; the next one runs', async () => {
    const { queue, gates } = gated();
    const first = queue.push('a', '1');
    const second = queue.push('a', '2');
    gates[0]?.fail(new Error('no'));
    await expect(first).rejects.toThrow('no');
    gates[1]?.open('yes');
    expect(await second).toBe('yes');
  });

  test('a stack is at rest once its caller knows', async () => {
    const { queue, gates } = gated();
    const first = queue.push('a', '1');
    expect(queue.exclusive('a', () => Promise.resolve(1))).toBeUndefined();
    gates[0]?.open('done');
    await first;
    expect(await queue.exclusive('a', () => Promise.resolve(1))).toBe(1);
  });

  test('what is pushed during exclusive work waits for it, also when it fails', async () => {
    const { queue, gates } = gated();
    let fail: (error: Error) => void = () => undefined;
    const work = queue.exclusive('a', () => new Promise((_, reject) => (fail = reject)));
    const pushed = queue.push('a', '1');
    expect(gates).toHaveLength(0);
    fail(new Error('no'));
    await expect(work).rejects.toThrow('no');
    await Promise.resolve();
    gates[0]?.open('done');
    expect(await pushed).toBe('done');
  });

  test('close refuses what waits and what comes, and waits for what runs', async () => {
    const { queue, gates } = gated();
    const first = queue.push('a', '1');
    const second = queue.push('a', '2');
    const closed = queue.close();
    await expect(second).rejects.toMatchObject({ code: 'Canceled' });
    await expect(queue.push('b', '1')).rejects.toMatchObject({ code: 'Canceled' });
    gates[0]?.open('done');
    expect(await first).toBe('done');
    await closed;
  });
});
