import { Turns } from '../../../operator/base/turns';

test('work for one key goes one after another, whether or not it fails; another key does not wait', async () => {
  const turns = new Turns();
  const said: string[] = [];
  let open: () => void = () => undefined;
  const first = turns.run('a', async () => {
    await new Promise<void>((resolve) => (open = resolve));
    said.push('a1');
    throw new Error('no');
  });
  const second = turns.run('a', () => Promise.resolve(said.push('a2')));
  await turns.run('b', () => Promise.resolve(said.push('b')));
  expect(said).toEqual(['b']);
  expect(turns.keys).toEqual(['a']);
  open();
  await expect(first).rejects.toThrow('no');
  expect(await second).toBe(3);
  expect(said).toEqual(['b', 'a1', 'a2']);
  expect(turns.keys).toEqual([]);
});
