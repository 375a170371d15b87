import { OperatorError } from '../../../operator/base/errors';
import { silentLogger } from '../../../operator/base/log';
import { ProviderSecrets, SecretMissing } from '../../../operator/cloud/providers/provider-secrets';
import type { RegisteredCloud } from '../../../operator/cloud/providers/registry';
import { retryOfMissing, SecretWatch } from '../../../operator/cloud/providers/secret-watch';
import type { KubeApi } from '../../../operator/kube/api';
import { FakeClock } from '../kube/fake-clock';

const encoded = (text: string): string => Buffer.from(text).toString('base64');

function secretsWith(data: Record<string, string> | undefined): { secrets: ProviderSecrets; read: string[] } {
  const read: string[] = [];
  const get = (_resource: unknown, key: string): Promise<unknown> => {
    read.push(key);
    return Promise.resolve(data === undefined ? undefined : { data });
  };
  return { secrets: new ProviderSecrets({ get } as unknown as KubeApi, 'ours'), read };
}

describe('the Secret of a CloudProvider', () => {
  it('is read once for all its keys, in their order', async () => {
    const { secrets, read } = secretsWith({ a: encoded('1'), b: encoded('2'), other: encoded('3') });
    expect(await secrets.read('cloud', ['b', 'a'])).toEqual(['2', '1']);
    expect(read).toEqual(['ours/cloud']);
  });

  it('may have what is no text: each character is then a byte', async () => {
    const bytes = Buffer.from([0x30, 0x82, 0x00, 0xff]);
    const { secrets } = secretsWith({ a: bytes.toString('base64'), b: encoded('ü') });
    const [file = '', text] = await secrets.read('cloud', ['a', 'b']);
    expect([Buffer.from(file, 'latin1'), text]).toEqual([bytes, 'ü']);
  });

  it.each([
    ['is not there', undefined, 'there is no Secret "cloud" in namespace ours, which is to have the keys "id", "key"'],
    ['lacks a key', { id: encoded('x') }, 'Secret "cloud" in namespace ours has no key "key"'],
    ['is empty', {}, 'Secret "cloud" in namespace ours has no keys "id", "key"'],
  ])('that %s: name, namespace, keys and command are told', async (_what, data, message) => {
    const { secrets } = secretsWith(data);
    const failed = (await secrets.read('cloud', ['id', 'key']).catch((thrown: unknown) => thrown)) as SecretMissing;
    expect(failed).toMatchObject({ code: 'Credentials', reason: 'SecretMissing', message, secret: 'cloud', keys: ['id', 'key'] });
    expect(failed.remedy).toContain('kubectl -n ours create secret generic cloud --from-literal=id=… --from-literal=key=…');
  });
});

describe('while it is missing', () => {
  const missing = new SecretMissing('none', 'cloud', ['key'], 'ours');

  it('connecting is tried again later and later', () => {
    expect([0, 3, 20].map((failures) => retryOfMissing(missing, failures))).toEqual([1_000, 8_000, 300_000]);
    expect(retryOfMissing(new OperatorError('Credentials', 'refused'), 3)).toBeUndefined();
  });

  function watching(): {
    clock: FakeClock;
    entry: { problem?: OperatorError };
    watch: SecretWatch;
    looks: () => number;
    found: string[];
    come: () => void;
  } {
    const clock = new FakeClock();
    const entry: { problem?: OperatorError } = { problem: missing };
    const found: string[] = [];
    let [looked, there] = [0, false];
    const readSecret = (): Promise<string[]> => {
      looked++;
      return there ? Promise.resolve(['x']) : Promise.reject(missing);
    };
    const registry = { get: () => entry as RegisteredCloud, readSecret };
    const watch = new SecretWatch({ registry, found: (provider) => void found.push(provider), clock, logger: silentLogger });
    return { clock, entry, watch, looks: () => looked, found, come: () => void (there = true) };
  }

  it('it is looked for once a second, however often that is asked for, and told of when it comes', async () => {
    const { clock, entry, watch, looks, found, come } = watching();
    watch.await('home');
    watch.await('home');
    await clock.advance(2_000);
    expect([looks(), found]).toEqual([3, []]);
    come();
    await clock.advance(1_000);
    expect(found).toEqual(['home']);
    delete entry.problem;
    await clock.advance(10_000);
    expect([looks(), found, clock.pending()]).toEqual([4, ['home'], []]);
    // Another time it is missing again.
    entry.problem = missing;
    watch.await('home');
    await clock.advance(0);
    expect(looks()).toBe(5);
    watch.stop();
  });

  it('nothing is looked for after the end', async () => {
    const { clock, watch, looks } = watching();
    watch.await('home');
    await clock.advance(0);
    watch.stop();
    await clock.advance(5_000);
    watch.await('home');
    await clock.advance(5_000);
    expect([looks(), clock.pending()]).toEqual([1, []]);
  });
});
