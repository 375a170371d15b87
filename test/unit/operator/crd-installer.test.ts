import { KINDS } from '../../../crds';
import { CRD_REVISION, CRD_REVISION_ANNOTATION, toCRD } from '../../../crds/crd';
import { OperatorError } from '../../../operator/base/errors';
import type { Logger } from '../../../operator/base/log';
import { CRDInstaller, judgeCRD, type CRDVerdict } from '../../../operator/crd-installer';
import type { KubeObject } from '../../../operator/kube/object';
import { FakeClock } from '../kube/fake-clock';
import { RecordingApi } from '../loops/recording-api';

const NAMES = KINDS.map((kind) => toCRD(kind).metadata.name);
const [FIRST = '', ...OTHERS] = NAMES;
const applyOf = (name: string): string => `apply customresourcedefinitions/${name}`;

function stored(revision: string | undefined, changes: { established?: string; deletionTimestamp?: string } = {}): KubeObject {
  const { established = 'True', ...metadata } = changes;
  const annotations = revision === undefined ? {} : { [CRD_REVISION_ANNOTATION]: revision };
  const status = { conditions: [{ type: 'Established', status: established }] };
  return { metadata: { annotations, ...metadata }, status } as unknown as KubeObject;
}

test.each<[string, KubeObject | undefined, CRDVerdict]>([
  ['absent', undefined, 'Apply'],
  ['older', stored('1'), 'Apply'],
  ['the same', stored('2'), 'Ready'],
  ['the same, but not served yet', stored('2', { established: 'False' }), 'Wait'],
  ['newer: never made older', stored('10'), 'Newer'],
  ['somebody else’s', stored(undefined), 'Foreign'],
  ['with an annotation that is no revision', stored('v1'), 'Foreign'],
  ['being deleted', stored('1', { deletionTimestamp: 'now' }), 'Deleting'],
])('a CRD that is %s', (_what, found, verdict) => {
  expect(judgeCRD(found as Parameters<typeof judgeCRD>[0], 2)).toBe(verdict);
});

describe('a new leader', () => {
  const api = (): RecordingApi => {
    const made = new RecordingApi();
    for (const name of OTHERS) made.stored.set(`customresourcedefinitions/${name}`, stored(`${CRD_REVISION}`));
    return made;
  };

  function start(of: RecordingApi): { clock: FakeClock; said: string[]; installed: () => number; ended: Promise<void>; stop: () => void } {
    const clock = new FakeClock();
    const said: string[] = [];
    let installed = 0;
    const say = (_fields: object, text: string): number => said.push(text);
    const logger = { info: say, warn: say, debug: () => undefined } as unknown as Logger;
    const stop = new AbortController();
    const installer = new CRDInstaller({ api: of, onInstalled: () => (installed += 1), clock, logger });
    const ended = installer.run(stop.signal).catch(() => undefined);
    return { clock, said, installed: () => installed, ended, stop: () => stop.abort() };
  }

  test('writes what is missing, and says so once it is served', async () => {
    const server = api();
    const at = start(server);
    await at.clock.advance(0);
    server.stored.set(`customresourcedefinitions/${FIRST}`, stored(`${CRD_REVISION}`, { established: 'False' }));
    await at.clock.advance(5_000);
    expect([server.log, at.installed()]).toEqual([[applyOf(FIRST)], 0]);
    expect(server.writes[0]?.body).toEqual(toCRD(KINDS[0]!));
    server.stored.set(`customresourcedefinitions/${FIRST}`, stored(`${CRD_REVISION}`));
    await at.clock.advance(1_000);
    await at.ended;
    expect([server.log, at.installed(), at.said]).toEqual([[applyOf(FIRST)], 1, ['CRD installed']]);
  });

  test('that may not, tells once which rule is missing, and ends when somebody else has brought it', async () => {
    const server = api();
    server.failures.set(applyOf(FIRST), new OperatorError('Credentials', '403'));
    const at = start(server);
    await at.clock.advance(60_000);
    expect(server.log).toHaveLength(5);
    expect(at.said).toEqual([
      expect.stringMatching(`^missing RBAC rule: customresourcedefinitions.apiextensions.k8s.io "${FIRST}" \\(create, patch\\); apply`),
    ]);
    server.stored.set(`customresourcedefinitions/${FIRST}`, stored(`${CRD_REVISION}`));
    await at.clock.advance(15_000);
    await at.ended;
    expect(at.installed()).toBe(0);
  });

  test('leaves a newer one, and says why', async () => {
    const server = api();
    server.stored.set(`customresourcedefinitions/${FIRST}`, stored(`${CRD_REVISION + 1}`));
    const at = start(server);
    await at.clock.advance(0);
    await at.ended;
    expect([server.log, at.said]).toEqual([[], [`the CRD ${FIRST} is left as it is: it is of a newer release, and is never made older`]]);
  });
});
