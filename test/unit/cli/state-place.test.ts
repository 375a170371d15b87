import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { isSamePlace } from '../../../operator/cli/state-place';
import type { StatePlace } from '../../../operator/updates/state/open';

const root = mkdtempSync(join(tmpdir(), 'state-place-'));
const folder = join(root, 'state');
mkdirSync(folder);
mkdirSync(join(root, 'another'));
symlinkSync(folder, join(root, 'link'));
symlinkSync(root, join(root, 'link-to-parent'));
afterAll(() => rmSync(root, { recursive: true }));

const at = (path: string): StatePlace => ({ kind: 'Directory', path });
const inCluster = (namespace: string): StatePlace => ({ kind: 'Cluster', namespace });

test.each<[string, StatePlace, StatePlace]>([
  ['the same text', at(folder), at(folder)],
  ['a slash more', at(folder), at(`${folder}/`)],
  ['a way from here', at(folder), at(`./${relative('.', folder)}`)],
  ['a link', at(folder), at(join(root, 'link'))],
  ['a link on the way', at(folder), at(join(root, 'link-to-parent', 'state'))],
  ['what is not there yet', at(join(root, 'new')), at(join(root, 'new/'))],
  ['a namespace', inCluster('a'), inCluster('a')],
])('two names of one store: %s', (_what, one, other) => {
  expect([isSamePlace(one, other), isSamePlace(other, one)]).toEqual([true, true]);
});

test.each<[string, StatePlace, StatePlace]>([
  ['two folders', at(folder), at(join(root, 'another'))],
  ['one that is not there yet', at(folder), at(join(root, 'new'))],
  ['two that are not there yet', at(join(root, 'new')), at(join(root, 'newer'))],
  ['two namespaces', inCluster('a'), inCluster('b')],
  ['folder and cluster', at(folder), inCluster(folder)],
])('two stores: %s', (_what, one, other) => {
  expect([isSamePlace(one, other), isSamePlace(other, one)]).toEqual([false, false]);
});
