import { World, type WorldParts } from '../../../dev/demo/world';

test('what the demo waits for ends with its signal', async () => {
  const stop = new AbortController();
  const world = new World({ signal: stop.signal } as WorldParts);
  let asked = 0;
  const waiting = world.until('what never comes', () => {
    if (++asked === 2) stop.abort(new Error('interrupted'));
    return Promise.resolve(undefined);
  });
  await expect(waiting).rejects.toThrow('interrupted');
  expect(asked).toBe(2);
});
