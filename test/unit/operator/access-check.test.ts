import { missingRules, permissionsOf } from '../../../operator/access-check';
import type { OperatorOptions } from '../../../operator/options';
import { authenticationPermissions, authorizationPermissions, type Permission } from '../../../operator/permissions';
import { waitingProblem } from '../../../operator/loops/service/waiting';

const row: Permission = { part: 'cloud', why: 'a test', group: 'g', resources: ['a', 'a/status'], verbs: ['get', 'patch'] };

/** An API server that allows what `allows` says, and counts. */
function server(allows: (attributes: Record<string, string>) => boolean) {
  const asked: Record<string, string>[] = [];
  const raw = (_method: string, _path: string, request?: { body?: unknown }): Promise<unknown> => {
    const { resourceAttributes } = (request?.body as { spec: { resourceAttributes: Record<string, string> } }).spec;
    asked.push(resourceAttributes);
    return Promise.resolve({ status: { allowed: allows(resourceAttributes) } });
  };
  return { asked, raw };
}

test('what is missing is told by resource, with its verbs', async () => {
  const { raw, asked } = server(({ verb, subresource }) => verb === 'get' && subresource === undefined);
  const table: Permission[] = [
    row,
    { ...row, part: 'route' },
    { ...row, group: '', resources: ['secrets'], verbs: ['get', 'create'], namespace: 'n' },
    { ...row, resources: ['leases'], verbs: ['patch'], names: ['x'], namespace: 'n' },
  ];
  expect(await missingRules({ raw }, table)).toEqual([
    'a.g (patch)',
    'a.g/status (get, patch)',
    'leases.g "x" in n (patch)',
    'secrets in n (create)',
  ]);
  expect(asked).toHaveLength(7); // what two parts need is asked once
  expect(asked).toContainEqual({ group: 'g', resource: 'a', subresource: 'status', verb: 'get' });
  expect(asked).toContainEqual({ group: 'g', resource: 'leases', verb: 'patch', name: 'x', namespace: 'n' });
});

test('nothing is missing', async () => {
  expect(
    await missingRules(
      server(() => true),
      [row],
    ),
  ).toEqual([]);
});

test('the rights of the HTTPS server are asked about as others are', async () => {
  const nothing = server(() => false);
  expect(await missingRules(nothing, [...authenticationPermissions({ looksUpCAs: true }), ...authorizationPermissions()])).toEqual([
    'configmaps "extension-apiserver-authentication" in kube-system (get)',
    'subjectaccessreviews.authorization.k8s.io (create)',
    'tokenreviews.authentication.k8s.io (create)',
  ]);
  expect(await missingRules(nothing, authenticationPermissions({ looksUpCAs: false }))).toEqual([
    'tokenreviews.authentication.k8s.io (create)',
  ]);
});

test('the second lease of a leader migration is asked about too', () => {
  const leaderElection = { lease: 'kube-system/first', migration: { lease: 'kube-system/second', controllers: new Set() } };
  const options = { namespace: 'n', stateStore: { kind: 'Directory', path: '/x' }, controllers: new Set(), leaderElection };
  const held = (some: object): unknown[] =>
    permissionsOf({ ...options, ...some } as unknown as OperatorOptions).flatMap(({ part, names }) =>
      part === 'leader election' ? [names] : [],
    );
  expect(held({})).toEqual([undefined, ['first', 'second']]);
  expect(held({ leaderElection: { lease: 'kube-system/first' } })).toEqual([undefined, ['first']]);
});

test.each<[string, string[], string[], string | undefined]>([
  ['nothing is wrong', [], [], undefined],
  ['a kind is missing', ['waiting for x'], [], 'KindsMissing'],
  ['a right is missing, which may be why a kind is', ['waiting for x'], ['a.g (get)'], 'PermissionMissing'],
])('while Services wait and %s', (_what, blocked, missing, reason) => {
  const problem = waitingProblem(blocked, missing);
  expect(problem?.reason).toBe(reason);
  expect(problem?.message ?? '').toContain(missing[0] ?? blocked[0] ?? '');
});
