// The panel with everything about one object.
import { element, pill, redraw, when } from './elements.js';

const at = (id) => document.getElementById(id);

const WORDS = {
  good: { word: 'ok', tone: 'good' },
  waiting: { word: 'waits', tone: 'waiting' },
  bad: { word: 'bad', tone: 'bad' },
  note: { word: 'note', tone: 'plain' },
};
const SIGNS = { create: 'good', update: 'waiting', replace: 'bad', delete: 'bad' };
const TONES = { Running: 'waiting', Succeeded: 'good', Failed: 'bad', Canceled: 'waiting' };

/**
 * Shows the details of an object.
 * @param details what /ui/object.json answers; undefined = the object is not there any more
 */
export function drawDetails({ kind, name }, details) {
  at('details-title').textContent = `${kind} ${name}`;
  const gone = [element('p', { class: 'empty' }, 'It is not there any more.')];
  // A text that somebody reads, or has marked, stays as long as it is true.
  redraw(at('details-body'), [kind, name, details], (body) => body.replaceChildren(...(details === undefined ? gone : bodyOf(details))));
}

function bodyOf({ findings, tree, stack }) {
  return [
    ...part('Why it is so', findings.map(finding)),
    ...part('Down to the cloud', tree.length === 0 ? [] : [list(tree)]),
    ...(stack === undefined ? [] : stackParts(stack)),
  ];
}

function part(title, children) {
  return children.length === 0 ? [] : [element('h3', {}, title), ...children];
}

function finding({ state, says, next }) {
  const nexts = next === undefined ? [] : [element('span', { class: 'next' }, `→ ${next}`)];
  return element('div', { class: 'finding' }, pill(WORDS[state] ?? WORDS.note), element('span', {}, says), ...nexts);
}

function list(nodes) {
  return element('ul', { class: 'tree' }, ...nodes.map(leaf));
}

function leaf({ kind, name, state, tone, detail, children }) {
  const details = detail === '' ? [] : [element('span', { class: 'line' }, detail)];
  const below = children.length === 0 ? [] : [list(children)];
  return element('li', {}, pill({ word: state, tone }), ` ${kind} `, element('strong', {}, name), ...details, ...below);
}

function stackParts({ name, plans, drift, attempts }) {
  return [
    ...plans.flatMap(planOf),
    ...part('Differences from the cloud', drift.map(differenceOf)),
    ...part(`Last updates of ${name}`, attempts.map(attemptOf)),
  ];
}

function planOf({ member, hash, reason, summary, operations, omitted = 0 }) {
  return part(`Plan ${hash} of ${member}`, [
    element('p', {}, summary),
    element('p', { class: 'muted' }, `It waits since ${reason}.`),
    ...operations.map(operationOf),
    ...notShown(omitted),
    element('p', {}, element('code', {}, `kubectl cloud approve ${hash}`)),
  ]);
}

function notShown(omitted) {
  return omitted === 0 ? [] : [element('p', { class: 'muted' }, `… and ${omitted} operations and properties that are not shown`)];
}

function operationOf({ op, type, name, stack, deleteFirst, properties = [] }) {
  const elsewhere = stack === undefined ? '' : `, in stack ${stack}`;
  const gap = deleteFirst === true ? ', the old one first: a gap in traffic' : '';
  const lines = properties.map(({ path, old, new: next }) =>
    element('span', { class: 'line' }, element('code', {}, `${path}: ${old ?? '(absent)'} → ${next ?? '(absent)'}`)),
  );
  return element(
    'div',
    { class: 'operation' },
    pill({ word: op, tone: SIGNS[op] ?? 'plain' }),
    ` ${type} ${name}${elsewhere}${gap}`,
    ...lines,
  );
}

function differenceOf({ urn, kind, property, old, new: found, detail }) {
  const said = property === undefined ? (detail ?? '') : `${property}: wanted ${old ?? '(absent)'}, found ${found ?? '(absent)'}`;
  return element('div', { class: 'operation' }, pill({ word: kind, tone: 'waiting' }), ` ${urn}`, element('span', { class: 'line' }, said));
}

function attemptOf({ startedAt, kind, cause = 'Change', result, durationMs, changes, code, message, operations = [], omitted = 0 }) {
  const took = durationMs === undefined ? '' : `, ${(durationMs / 1000).toFixed(1)} s`;
  const told = [changes, code, message].filter(Boolean).join(': ');
  const first = ` ${when(startedAt)}, ${kind} (${cause})${took}`;
  const line = told === '' ? [] : [element('span', { class: 'line' }, told)];
  const what = [...operations.map(operationOf), ...notShown(omitted)];
  const did = what.length === 0 ? [] : [element('details', {}, element('summary', {}, 'What it did'), ...what)];
  return element('div', { class: 'operation' }, pill({ word: result, tone: TONES[result] ?? 'plain' }), first, ...line, ...did);
}
