// What waits, stacks with their providers, and the last updates.
import { element, keep, pill, redraw, when } from './elements.js';
import { drawCard } from './graph.js';

const at = (id) => document.getElementById(id);
const holds = (filter) => (one) => JSON.stringify(one).toLowerCase().includes(filter);

/** Draws everything but the graph; see drawGraph. */
export function drawLists(overview, filter, selected) {
  drawWaiting(overview, filter);
  drawStacks(overview, filter, selected);
  drawUpdates(overview, filter);
}

function drawWaiting({ waiting }, filter) {
  const shown = waiting.filter(holds(filter));
  at('waiting-count').textContent = waiting.length === 0 ? '' : String(waiting.length);
  const none = { key: 'none', draw: (child) => redraw(child, 'none', drawNothing) };
  const items = shown.map((one) => ({
    key: `${one.kind}/${one.name}/${one.next ?? ''}`,
    draw: (child) => redraw(child, one, () => drawItem(child, one)),
  }));
  keep(at('waiting'), items.length === 0 ? [none] : items, () => element('button', { type: 'button' }));
}

function drawNothing(child) {
  child.className = 'empty';
  child.disabled = true;
  child.replaceChildren('Nothing waits.');
}

function drawItem(child, { kind, name, state, next }) {
  child.className = 'item';
  child.disabled = false;
  child.dataset.kind = kind;
  child.dataset.name = name;
  const why = [state.reason, state.message].filter(Boolean).join(': ');
  const parts = [
    pill(state),
    element('span', { class: 'name' }, element('span', { class: 'kind' }, kind), name),
    element('span', {}, why === '' ? 'It has no condition yet.' : why),
  ];
  if (next !== undefined) parts.push(element('span', { class: 'next' }, `→ ${next}`));
  child.replaceChildren(...parts);
}

function drawStacks({ providers, stacks }, filter, selected) {
  const all = [
    ...providers.map(({ name, kind, frozen, state }) => ({
      ...{ kind: 'CloudProvider', name, state },
      lines: [`CloudProvider, ${kind}${frozen ? ', frozen: nothing is written to its cloud' : ''}`],
    })),
    ...stacks.map(({ name, kind, provider, members, resources, differences, state }) => ({
      ...{ kind: 'CloudStack', name, state },
      lines: [
        `CloudStack of ${provider}, ${kind}; members: ${members}, resources: ${resources}`,
        ...(differences > 0 ? [`${differences} differences from the cloud`] : []),
      ],
    })),
  ];
  const items = all.filter(holds(filter)).map((one) => {
    const key = `${one.kind}/${one.name}`;
    return { key, draw: (child) => drawCard(child, one, key === selected) };
  });
  keep(at('stacks'), items, () => element('button', { type: 'button', class: 'card' }));
}

const TONES = { Running: 'waiting', Succeeded: 'good', Failed: 'bad', Canceled: 'waiting' };

function drawUpdates({ updates }, filter) {
  const items = updates.filter(holds(filter)).map((one) => ({
    key: `${one.stack}/${one.startedAt}/${one.kind}`,
    draw: (row) => redraw(row, one, () => row.replaceChildren(...cellsOf(one))),
  }));
  keep(at('updates'), items, () => element('tr'));
}

/** The cells of one update, in the order of the table's head. */
export function cellsOf({ startedAt, stack, kind, cause = 'Change', result, durationMs, changes = '', cloudCalls, code, message }) {
  const open = element('button', { type: 'button', 'data-kind': 'CloudStack', 'data-name': stack, class: 'name' }, stack);
  const took = durationMs === undefined ? '' : `${(durationMs / 1000).toFixed(1)} s`;
  const told = [code, message].filter(Boolean).join(': ');
  return [
    element('td', {}, when(startedAt)),
    element('td', {}, open),
    element('td', {}, kind),
    element('td', {}, cause),
    element('td', {}, pill({ word: result, tone: TONES[result] ?? 'plain' })),
    element('td', {}, took),
    element('td', {}, changes),
    element('td', {}, String(cloudCalls ?? '')),
    element('td', { class: 'text' }, told),
  ];
}
