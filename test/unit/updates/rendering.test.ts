import { CustomResource, type CustomResourceOptions, type Input, type Output, runtime, secret } from '@pulumi/pulumi';
import type { CheckpointResource } from '../../../operator/updates/checkpoint';
import { rendersSame } from '../../../operator/updates/worker/rendering';

class Thing extends CustomResource {
  declare readonly address: Output<string>;
  constructor(name: string, args: Record<string, Input<unknown>>, options?: CustomResourceOptions) {
    super('fake:index:Thing', name, { ...args, address: undefined }, options);
  }
}

const PREFIX = 'urn:pulumi:web::fake::';
const POOL = `${PREFIX}fake:index:Thing::pool`;
const LISTENER = `${PREFIX}fake:index:Thing::listener`;
const PROVIDER = `${PREFIX}pulumi:providers:fake::default`;
const SECRET = { '4dabf18193072939515e22adb298388d': '1b47061264138c4ac30d75fd1eb44270', value: 'swordfish' };
const custom = { custom: true, type: 'fake:index:Thing', provider: `${PROVIDER}::id` };
const root = `${PREFIX}pulumi:pulumi:Stack::fake-web`;

const resources: CheckpointResource[] = [
  { urn: root, type: 'pulumi:pulumi:Stack', custom: false, outputs: { address: '10.0.0.1' } },
  { urn: PROVIDER, type: 'pulumi:providers:fake', custom: true, id: 'id' },
  { ...custom, urn: POOL, id: 'pool-1', parent: root, inputs: { size: 1, password: SECRET }, outputs: { size: 1, address: '10.0.0.1' } },
  { ...custom, urn: LISTENER, id: 'l-1', parent: root, inputs: { pool: 'pool-1', port: 80 }, outputs: {}, dependencies: [POOL] },
];

interface Variant {
  size?: number;
  password?: string;
  listener?: boolean;
  protect?: boolean;
  detached?: boolean;
  extra?: boolean;
  output?: string;
  asks?: boolean;
  throws?: boolean;
  parent?: boolean;
}

function program(variant: Variant): () => Promise<Record<string, unknown>> {
  const { size = 1, password = 'swordfish', listener = true, protect = false, detached = false } = variant;
  return async () => {
    const pool = new Thing('pool', { size, password: secret(password) });
    const options = { protect, ...(variant.parent === true ? { parent: pool } : {}) };
    if (listener) new Thing('listener', { pool: detached ? 'pool-1' : pool.id, port: 80 }, options);
    if (variant.extra === true) new Thing('extra', {});
    if (variant.asks === true) await runtime.invoke('fake:index:zones', {});
    if (variant.throws === true) throw new Error('no');
    return { address: variant.output ?? pool.address };
  };
}

test.each<[string, boolean, Variant]>([
  ['the same', true, {}],
  ['another input', false, { size: 2 }],
  ['another secret value', false, { password: 'tuna' }],
  ['a resource less', false, { listener: false }],
  ['a resource more', false, { extra: true }],
  ['another option', false, { protect: true }],
  ['another order', false, { detached: true }],
  ['another parent', false, { parent: true }],
  ['another output', false, { output: '10.0.0.2' }],
  ['a question to a provider', false, { asks: true }],
  ['a failure', false, { throws: true }],
])('a program that makes %s is known without an engine', async (_what, same, variant) => {
  expect(await rendersSame(program(variant), { project: 'fake', stack: 'web', resources })).toBe(same);
});

test('what is still to be deleted is for the engine', async () => {
  const old = { ...resources[2], delete: true } as CheckpointResource;
  expect(await rendersSame(program({}), { project: 'fake', stack: 'web', resources: [...resources, old] })).toBe(false);
});
