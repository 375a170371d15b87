// Services → CloudLoadBalancers → Nodes ← CloudRoutes: cards in four columns, and lines between them.
import { element, keep, pill, redraw } from './elements.js';

/** Above this number only the lines of the selected card are drawn. */
const MANY_LINES = 600;

const SVG = 'http://www.w3.org/2000/svg';
const at = (id) => document.getElementById(id);

/** The cards of an overview, by column. */
function columnsOf({ services, loadBalancers, nodes, routes, targetSets }) {
  const targets = ({ targets: place }) => {
    const { busy, quiet } = targetSets[place];
    const count = busy.length + quiet.length;
    return `${count} ${count === 1 ? 'target' : 'targets'}${quiet.length > 0 ? `, ${quiet.length} of them take no traffic` : ''}`;
  };
  return {
    services: services.map((one) => card('Service', one, [one.addresses.join(', '), one.loadBalancerClass])),
    'load-balancers': loadBalancers.map((one) =>
      card('CloudLoadBalancer', one, [one.ports, one.addresses.join(', '), `${one.provider}, ${targets(one)}`]),
    ),
    nodes: nodes.map((one) => card('Node', one, [[one.provider, one.zone].filter(Boolean).join(', ')])),
    routes: routes.map((one) => card('CloudRoute', one, [`${one.destination} → ${one.node}`])),
  };
}

function card(kind, { name, state }, lines) {
  const why =
    state.tone === 'good' || state.message === undefined ? undefined : `${state.reason ?? ''}: ${state.message}`.replace(/^: /, '');
  return { key: `${kind}/${name}`, kind, name, state, lines: lines.filter(Boolean), why };
}

/** Which cards a line joins. */
function linesOf({ services, loadBalancers, routes, targetSets }) {
  const made = services.filter((one) => one.made).map(({ name }) => [`Service/${name}`, `CloudLoadBalancer/${name}`]);
  const targets = loadBalancers.flatMap(({ name, targets: place }) =>
    targetSets[place].busy.map((node) => [`CloudLoadBalancer/${name}`, `Node/${node}`]),
  );
  return [...made, ...targets, ...routes.map(({ name, node }) => [`Node/${node}`, `CloudRoute/${name}`])];
}

/**
 * Draws the graph.
 * @param overview what /ui/overview.json answers
 * @param {string} filter only cards whose text holds it; empty = all
 * @param {string | undefined} selected key of the card whose details are shown
 */
export function drawGraph(overview, filter, selected) {
  for (const [id, cards] of Object.entries(columnsOf(overview))) {
    const shown = cards.filter((one) => JSON.stringify(one).toLowerCase().includes(filter));
    keep(
      at(id),
      shown.map((one) => ({ key: one.key, draw: (child) => drawCard(child, one, one.key === selected) })),
      () => element('button', { type: 'button', class: 'card' }),
    );
  }
  drawLines(linesOf(overview), selected);
}

/** A card that opens the details of what it shows. */
export function drawCard(child, { kind, name, state, lines, why }, pressed) {
  child.setAttribute('aria-pressed', String(pressed));
  redraw(child, [kind, name, state, lines, why], () => {
    child.dataset.kind = kind;
    child.dataset.name = name;
    child.dataset.tone = state.tone;
    child.replaceChildren(
      element('span', { class: 'head' }, element('span', { class: 'name' }, name), pill(state)),
      ...lines.map((line) => element('span', { class: 'line' }, line)),
      ...(why === undefined ? [] : [element('span', { class: 'line why' }, why)]),
    );
  });
}

function drawLines(lines, selected) {
  const graph = at('graph');
  const edges = at('edges');
  const origin = graph.getBoundingClientRect();
  const places = new Map();
  for (const one of graph.querySelectorAll('.card')) places.set(one.dataset.key, one.getBoundingClientRect());
  edges.setAttribute('width', String(graph.scrollWidth));
  edges.setAttribute('height', String(graph.scrollHeight));
  const touches = (line) => selected !== undefined && line.includes(selected);
  const drawn = lines.length > MANY_LINES ? lines.filter(touches) : lines;
  const paths = drawn.flatMap((line) => {
    const [from, to] = line.map((key) => places.get(key));
    if (from === undefined || to === undefined) return [];
    const path = document.createElementNS(SVG, 'path');
    path.setAttribute('d', curve(from, to, { x: origin.left - graph.scrollLeft, y: origin.top - graph.scrollTop }));
    if (selected !== undefined && lines.some(touches)) path.setAttribute('class', touches(line) ? 'lit' : 'dim');
    return [path];
  });
  edges.replaceChildren(...paths);
}

function curve(from, to, { x, y }) {
  const [x1, y1] = [from.right - x, from.top + from.height / 2 - y];
  const [x2, y2] = [to.left - x, to.top + to.height / 2 - y];
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}
