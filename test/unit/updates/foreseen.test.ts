import type { JsonObject } from '../../../operator/base/json';
import { foreseen } from '../../../providers/resource-provider/preview';
import type { ResourceType } from '../../../providers/resource-provider/resource-provider';

const UNKNOWN = '04da6b54-80e4-46f7-96ec-b56ff0331ba9';
const SECRET = { '4dabf18193072939515e22adb298388d': '1b47061264138c4ac30d75fd1eb44270' };
const context = { urn: 'urn:x', name: 'x', signal: new AbortController().signal };

const never = (): Promise<never> => Promise.reject(new Error('a preview writes nothing'));
const type = (more: Partial<ResourceType> = {}): ResourceType => ({
  token: 'x:index:Thing',
  replaceOn: [],
  create: never,
  read: never,
  update: never,
  delete: never,
  ...more,
});

/** Tells its port alone, and what it was asked with. */
function telling(): ResourceType & { asked: JsonObject[] } {
  const asked: JsonObject[] = [];
  const foresee: ResourceType['foresee'] = (inputs, _context, olds) => {
    asked.push({ inputs, olds: olds ?? null });
    return Promise.resolve({ seen: inputs.port ?? null });
  };
  return { ...type({ computed: ['seen', 'former'], foresee }), asked };
}

describe('outputs in a preview', () => {
  test('of what is made: its inputs, and that only the write can tell the rest', async () => {
    expect(await foreseen({ inputs: { port: 1 } }, type(), context)).toEqual({ port: 1 });
    expect(await foreseen({ inputs: { port: 1 } }, type({ computed: ['observed'] }), context)).toEqual({ port: 1, observed: UNKNOWN });
  });

  test('of an update: what no input says stays, but what each write tells anew is unknown, also where it stands beside an input', async () => {
    const olds = { port: 1, address: '10.0.0.1', observed: { times: 3 } };
    expect(await foreseen({ inputs: { port: 2 }, olds }, type(), context)).toEqual({ ...olds, port: 2 });
    const computed = ['observed', 'port'];
    expect(await foreseen({ inputs: { port: 2 }, olds }, type({ computed }), context)).toEqual({
      port: UNKNOWN,
      address: '10.0.0.1',
      observed: UNKNOWN,
    });
  });

  test('what a type can tell of the write is known; it is told what was before', async () => {
    const thing = telling();
    expect(await foreseen({ inputs: { port: 1 } }, thing, context)).toEqual({ port: 1, seen: 1, former: UNKNOWN });
    const olds = { port: 1, seen: 1, former: ['a'] };
    expect(await foreseen({ inputs: { port: 2 }, olds }, thing, context)).toEqual({ port: 2, seen: 2, former: UNKNOWN });
    expect(thing.asked).toEqual([
      { inputs: { port: 1 }, olds: null },
      { inputs: { port: 2 }, olds },
    ]);
  });

  test('nothing is asked while an input is unknown', async () => {
    const thing = telling();
    const inputs = { port: 1, of: [UNKNOWN] };
    expect(await foreseen({ inputs, olds: { seen: 7 } }, thing, context)).toEqual({ ...inputs, seen: UNKNOWN, former: UNKNOWN });
    expect(thing.asked).toEqual([]);
  });

  test('a secret is told in clear to the type alone', async () => {
    const foresee: ResourceType['foresee'] = ({ key }) => Promise.resolve({ key: `${key as string}!` });
    const inputs = { key: { ...SECRET, value: 'x' } };
    expect(await foreseen({ inputs }, type({ foresee }), context)).toEqual({ key: { ...SECRET, value: 'x!' } });
  });
});
