import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CreateAliasCommand, CreateKeyCommand, KMSClient } from '@aws-sdk/client-kms';
import { systemClock } from '../../../operator/base/clock';
import { PROJECT_ROOT } from '../../../operator/entry';
import type { KubeClient } from '../../../operator/kube/client';
import { NAMESPACES, SECRETS, type KubeObject } from '../../../operator/kube/object';
import { DirectoryStateStore } from '../../../operator/updates/state/directory-state-store';
import type { Keyring } from '../../../operator/updates/state/keyring';
import { rotateKey } from '../../../operator/updates/state/rotation';
import { keyEncryptionKey } from '../../../operator/updates/state/secrets-provider/registry';
import { SecretStateStore } from '../../../operator/updates/state/secret-state-store';
import type { Secret } from '../../../operator/updates/state/state-secret';
import type { TestCluster } from '../../harness/cluster';
import { awsEnvironment, describeWithMoto, startMoto, type Moto } from '../../harness/moto';
import type { UpdatesHarness } from '../updates/harness';
import { KmsProxy } from './kms-proxy';
import { filesBelow, filesWith, secretsWith } from './planted';
import { recordOf } from './record';

interface Surroundings {
  harness: UpdatesHarness;
  cluster: TestCluster;
  admin: KubeClient;
  logFile: string;
}

const NAMESPACE = 'kms';
const REGION = 'eu-central-1';
const KEY = `awskms://alias/cloud-operator?region=${REGION}`;
/** The stores remember the Secret for less. */
const LATER_MS = 120_000;

/** What holds with the data keys under a KMS, in the cluster of another test file. */
export function kmsCases(surroundings: () => Surroundings): void {
  describeWithMoto('data keys under a key of AWS KMS', () => {
    const before = { ...process.env };
    let moto: Moto;
    let kms: KmsProxy;
    let here: Surroundings;
    let clusterID: string;
    /** The operator that runs, from the first test on. */
    let running: Operator;

    /** An operator that has just started. */
    function newOperator(secretsProvider = KEY): Operator {
      let ahead = 0;
      const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + ahead };
      const keys = { secretsProvider, clusterID: () => Promise.resolve(clusterID) };
      const store = new SecretStateStore({ api: here.admin, namespace: NAMESPACE, keys, clock });
      const engine = here.harness.newEngine({ store });
      const run: Operator['run'] = async (stack, size, password = 'open sesame') => {
        const inputs = { things: [{ name: 'web', size, password }] };
        const { changes } = await engine.run(here.harness.update(stack, inputs, { clusterID }), here.harness.hooks(stack));
        return changes;
      };
      return { store, run, later: () => (ahead += LATER_MS) };
    }

    beforeAll(async () => {
      here = surroundings();
      moto = await startMoto();
      kms = new KmsProxy(moto.url);
      await kms.start();
      Object.assign(process.env, awsEnvironment(kms.url));
      const client = new KMSClient({ region: REGION });
      const { KeyMetadata } = await client.send(new CreateKeyCommand({}));
      await client.send(new CreateAliasCommand({ AliasName: 'alias/cloud-operator', TargetKeyId: KeyMetadata?.KeyId }));
      client.destroy();
      await here.admin.create(NAMESPACES, undefined, { metadata: { name: NAMESPACE } });
      clusterID = (await here.admin.get<KubeObject>(NAMESPACES, 'kube-system'))?.metadata.uid ?? '';
      running = newOperator('default');
    }, 120_000);

    afterAll(async () => {
      process.env = before;
      await kms?.stop();
      await moto?.stop();
    });

    beforeEach(() => {
      kms.calls.length = 0;
      kms.fault = () => undefined;
    });

    /** Where the keys of a ring stand in clear: Secrets, etcd's own files, logs, files of the engine. */
    async function placesOf(ring: Keyring): Promise<string[]> {
      const files = [here.logFile, ...filesBelow(here.cluster.directory), ...filesBelow(here.harness.directory)];
      const { material = '' } = ring.keys[ring.current] ?? {};
      return [...(await secretsWith(here.admin, material)), ...filesWith(files, material)];
    }

    function rotateByCommand(...more: string[]): Promise<{ stdout: string }> {
      const args = [join(PROJECT_ROOT, 'bin/cloud-operator.js'), 'state', 'rotate-key', '--state-namespace', NAMESPACE, ...more];
      return promisify(execFile)(process.execPath, args, { env: { ...process.env, KUBECONFIG: here.cluster.kubeconfigPath } });
    }

    test('come there by the command, and the operator that runs goes on with them', async () => {
      await running.run('moved', 1);
      expect(await placesOf(await running.store.keyring())).toContain('cloud-operator-state-key'); // a search that finds what is there
      const { stdout } = await rotateByCommand('--secrets-provider', KEY);
      expect(stdout).toMatch(/^key [0-9a-f]{8} is the current one; 1 stacks are encrypted with it\nthe data keys are protected by awskms:/);
      expect(kms.calls).toEqual(['GenerateDataKey']);
      running.later();
      expect(await running.run('moved', 2)).toMatchObject({ update: 1, create: 0 });
      expect(await running.run('moved', 3)).toMatchObject({ update: 1, create: 0 });
      expect(kms.calls).toEqual(['GenerateDataKey', 'Decrypt']);
    });

    test('stand in clear nowhere, and neither does a planted secret', async () => {
      const planted = 'glockenspiel-23421508';
      await running.run('planted', 1, planted);
      expect(here.harness.cloud.named('web', 'planted')[0]?.properties.password).toBe(planted);
      expect(await secretsWith(here.admin, 'stack-planted')).toContain('stack-planted');
      expect(await secretsWith(here.admin, planted)).toEqual([]);
      const files = [here.logFile, ...filesBelow(here.harness.directory), ...filesBelow(tmpdir(), 'cloud-operator-worker-')];
      expect(filesWith(files, planted)).toEqual([]);
      expect(await placesOf(await running.store.keyring())).toEqual([]);
    });

    test('are unwrapped once by an operator that starts, however much it has to do', async () => {
      const restarted = newOperator();
      const changes = await Promise.all([restarted.run('moved', 4), restarted.run('planted', 4)]);
      expect(changes).toEqual([expect.objectContaining({ update: 1, create: 0 }), expect.objectContaining({ update: 1, create: 0 })]);
      restarted.later();
      await restarted.run('moved', 5);
      expect(kms.calls).toEqual(['Decrypt']);
    });

    test('under a disabled key: what runs goes on; what starts says which key, what it may not do and what helps, until the key is enabled', async () => {
      kms.fault = () => 'DisabledException';
      running.later();
      expect(await running.run('moved', 6)).toMatchObject({ update: 1 });
      expect(kms.calls).toEqual([]);
      const started = newOperator();
      const { version } = (await running.store.read('moved')) ?? {};
      const calls = here.harness.cloud.calls.length;
      await expect(started.run('moved', 7)).rejects.toMatchObject({
        code: 'Credentials',
        reason: 'StateKeyUnavailable',
        message: expect.stringMatching(
          /^kms:Decrypt with the key of the state, arn:aws:kms:eu-central-1:\d+:key\/\S+ \(awskms:.*: the key is disabled/,
        ) as string,
        remedy: expect.stringMatching(/^enable it: aws kms enable-key --key-id arn:aws:kms:/) as string,
      });
      expect([here.harness.cloud.calls.length, (await running.store.read('moved'))?.version]).toEqual([calls, version]);
      kms.fault = () => undefined;
      expect(await started.run('moved', 7)).toMatchObject({ update: 1 });
    });

    test('are rotated, and taken back into the Secret: without the KMS then', async () => {
      const { current } = await running.store.keyring();
      expect(await rotateKey(running.store, Date.now())).toMatchObject({
        rewritten: expect.arrayContaining(['moved', 'planted']) as string[],
        left: [],
      });
      expect((await running.store.keyring()).current).not.toBe(current);
      expect(await running.run('moved', 8)).toMatchObject({ update: 1 });
      await rotateKey(running.store, Date.now(), 'default');
      kms.fault = () => 'cut';
      kms.calls.length = 0;
      expect(await newOperator('default').run('moved', 9)).toMatchObject({ update: 1, create: 0 });
      expect(kms.calls).toEqual([]);
      expect(here.harness.cloud.named('web', 'moved').map(({ properties }) => properties.size)).toEqual([9]);
    });

    test('of another cluster are refused without asking the KMS; AWS would refuse them too', async () => {
      await rotateKey(running.store, Date.now(), KEY);
      const keys = { clusterID: () => Promise.resolve('another') };
      const elsewhere = new SecretStateStore({ api: here.admin, namespace: NAMESPACE, keys });
      kms.calls.length = 0;
      await expect(elsewhere.read('moved')).rejects.toMatchObject({ code: 'Invalid', reason: 'ForeignState' });
      expect(kms.calls).toEqual([]);
      const key = keyEncryptionKey(KEY);
      const made = await key?.generateDataKey({ cluster: 'one' });
      await expect(key?.decrypt(made?.wrapped ?? { key: '', ciphertext: '' }, { cluster: 'another' })).rejects.toMatchObject({
        reason: 'WrongKey',
      });
    });

    test('of a folder are under the KMS in the same way', async () => {
      const folder = join(here.harness.directory, 'under-kms');
      const newStore = (): DirectoryStateStore =>
        new DirectoryStateStore(folder, { secretsProvider: KEY, clusterID: () => Promise.resolve(clusterID) });
      await newStore().write(recordOf('web', { inputs: { word: 'swordfish' } }), undefined);
      const restarted = newStore();
      expect((await restarted.read('web'))?.record.inputs).toEqual({ word: 'swordfish' });
      await rotateKey(restarted, Date.now());
      expect((await newStore().read('web'))?.record.inputs).toEqual({ word: 'swordfish' });
      expect(kms.calls).toEqual(['GenerateDataKey', 'Decrypt', 'GenerateDataKey', 'Decrypt']);
      expect(await placesOf(await restarted.keyring())).toEqual([]);
    });

    test('are made by one call in a new cluster, however many ask at once', async () => {
      await here.admin.create(NAMESPACES, undefined, { metadata: { name: 'new' } });
      const keys = { secretsProvider: KEY, clusterID: () => Promise.resolve(clusterID) };
      const store = new SecretStateStore({ api: here.admin, namespace: 'new', keys });
      const rings = await Promise.all(Array.from({ length: 5 }, () => store.keyring()));
      expect(new Set(rings.map(({ current }) => current)).size).toBe(1);
      expect(kms.calls).toEqual(['GenerateDataKey']);
    });

    test('under a key that is not there are not made, and nothing is stored', async () => {
      await here.admin.create(NAMESPACES, undefined, { metadata: { name: 'nokey' } });
      const keys = { secretsProvider: 'awskms://alias/nobody?region=eu-central-1', clusterID: () => Promise.resolve(clusterID) };
      const store = new SecretStateStore({ api: here.admin, namespace: 'nokey', keys });
      await expect(store.keyring()).rejects.toMatchObject({
        reason: 'StateKeyUnavailable',
        message: expect.stringMatching(/^kms:GenerateDataKey .*alias\/nobody.*: there is no such key/) as string,
      });
      expect(await here.admin.list<Secret>(SECRETS, { namespace: 'nokey' })).toEqual([]);
    });

    test('of a KMS that does not answer are one line with what to do', async () => {
      kms.fault = () => 'cut';
      await expect(rotateByCommand()).rejects.toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(
          /^cloud-operator: kms:Decrypt with the key of the state, arn:\S+ \(awskms:.*: AWS KMS can’t be reached.*; it is tried again.*\n$/,
        ) as string,
      });
    });
  });
}

interface Operator {
  store: SecretStateStore;
  run(stack: string, size: number, password?: string): Promise<{ update: number; create: number }>;
  /** Lets so much time pass that it looks at the stored keys again. */
  later(): void;
}
