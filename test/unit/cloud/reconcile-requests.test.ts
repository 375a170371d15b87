import { ReconcileRequests } from '../../../operator/cloud/providers/reconcile-requests';
import type { StoredProvider } from '../../../operator/cloud/providers/provider-reconciler';
import { settle } from '../kube/fake-clock';

type Change = Parameters<Parameters<ConstructorParameters<typeof ReconcileRequests>[0]['providers']['onChange']>[0]>[0];

const provider = (token?: string, lastHandledReconcile?: string): StoredProvider =>
  ({
    metadata: { name: 'home', ...(token !== undefined && { annotations: { 'cloud-operator.dev/reconcile': token } }) },
    ...(lastHandledReconcile !== undefined && { status: { lastHandledReconcile } }),
  }) as unknown as StoredProvider;

/** Requests about CloudProvider home: how often it was looked at, and what ends one look. */
function scene(first: StoredProvider) {
  let change: (change: Change) => void = () => undefined;
  const looks: (() => void)[] = [];
  const handled: (string | undefined)[] = [];
  const requests: ReconcileRequests = new ReconcileRequests({
    providers: {
      list: () => [first],
      onChange: (listener) => {
        change = listener;
        return () => (change = () => undefined);
      },
    },
    look: () => new Promise((resolve) => looks.push(resolve)),
    handled: (name) => void handled.push(requests.handled(name)),
  });
  const become = (current: StoredProvider | undefined): void => change({ key: 'home', current } as Change);
  return { requests, looks, handled, become };
}

test('a new token has everything looked at, and is echoed once that is done', async () => {
  const { requests, looks, handled, become } = scene(provider());
  requests.start();
  expect(looks).toHaveLength(0);
  become(provider('one'));
  become(provider('one'));
  expect([looks.length, requests.handled('home')]).toEqual([1, undefined]);
  looks[0]?.();
  await settle();
  expect(handled).toEqual(['one']);
});

test('a newer one answers for both', async () => {
  const { requests, looks, handled, become } = scene(provider('one'));
  requests.start();
  become(provider('two'));
  looks.forEach((end) => end());
  await settle();
  expect([looks.length, handled]).toEqual([2, ['two']]);
});

test('what was echoed before a restart is not done again; what was not, is', () => {
  for (const [echoed, times] of [
    ['one', 0],
    ['zero', 1],
  ] as const) {
    const { requests, looks } = scene(provider('one', echoed));
    requests.start();
    expect(looks).toHaveLength(times);
  }
});

test('a CloudProvider that is made anew under the name asks anew', async () => {
  const { requests, looks, become } = scene(provider('one'));
  requests.start();
  looks[0]?.();
  await settle();
  become(undefined);
  expect(requests.handled('home')).toBeUndefined();
  become(provider('one'));
  expect(looks).toHaveLength(2);
});

test('nothing is asked for any more at the end', () => {
  const { requests, looks, become } = scene(provider());
  requests.start()();
  become(provider('one'));
  expect(looks).toHaveLength(0);
});
