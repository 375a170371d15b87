// Asks for what is shown every few seconds, and shows it; knows which object's details are open.
import { drawDetails } from './details.js';
import { drawGraph } from './graph.js';
import { drawLists } from './lists.js';

const EVERY_MS = 3000;

const at = (id) => document.getElementById(id);
let overview;
let etag;
/** `{kind, name}` of the open details, and the element that they were opened from. */
let open;
let opener;

function draw() {
  if (overview === undefined) return;
  const filter = at('filter').value.trim().toLowerCase();
  const selected = open === undefined ? undefined : `${open.kind}/${open.name}`;
  const { version, identity, leads, filling } = overview.operator;
  at('operator').textContent = `${version} · ${identity} · ${leads ? 'leads' : 'stands by'}${filling === undefined ? '' : ` · ${filling}`}`;
  drawLists(overview, filter, selected);
  drawGraph(overview, filter, selected);
}

function tell(text, tone) {
  const freshness = at('freshness');
  if (freshness.textContent !== text) freshness.textContent = text;
  freshness.className = `pill ${tone}`;
}

/** The answer's JSON; undefined = as before, or not there. */
async function ask(path, headers = {}) {
  const answer = await fetch(path, { headers, cache: 'no-store' });
  if (answer.status === 304 || answer.status === 404) return { status: answer.status };
  if (!answer.ok) throw new Error(`the operator answers ${answer.status}`);
  return { status: answer.status, etag: answer.headers.get('etag') ?? undefined, json: await answer.json() };
}

async function look() {
  try {
    const answer = await ask('overview.json', etag === undefined ? {} : { 'if-none-match': etag });
    if (answer.json !== undefined) {
      overview = answer.json;
      etag = answer.etag;
      draw();
    }
    await lookAtOpen();
    tell('Live', 'good');
  } catch (error) {
    tell(`Not live: ${error.message}`, 'bad');
  }
}

async function lookAtOpen() {
  if (open === undefined) return;
  const asked = open;
  const { json } = await ask(`object.json?${new URLSearchParams(asked)}`);
  if (asked === open) drawDetails(asked, json);
}

async function show(kind, name, from) {
  open = { kind, name };
  opener = from;
  at('details').hidden = false;
  at('details-title').textContent = `${kind} ${name}`;
  draw();
  at('close').focus();
  await look();
}

function hide() {
  if (open === undefined) return;
  open = undefined;
  at('details').hidden = true;
  draw();
  (opener?.isConnected === true ? opener : at('graph')).focus();
}

/** Up and Down go through the cards of a column. */
function step(event) {
  const card = event.target instanceof Element ? event.target.closest('.card, .item') : null;
  const next = event.key === 'ArrowDown' ? card?.nextElementSibling : card?.previousElementSibling;
  if (!(next instanceof HTMLElement)) return;
  event.preventDefault();
  next.focus();
}

document.addEventListener('click', (event) => {
  const from = event.target instanceof Element ? event.target.closest('[data-kind]') : null;
  if (from !== null) void show(from.dataset.kind, from.dataset.name, from);
});
document.addEventListener('keydown', (event) => {
  const typing = event.target === at('filter');
  if (event.key === 'Escape') hide();
  else if (event.key === '/' && !typing) {
    event.preventDefault();
    at('filter').focus();
  } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && !typing) step(event);
});
at('close').addEventListener('click', hide);
at('filter').addEventListener('input', draw);
window.addEventListener('resize', draw);
document.addEventListener('visibilitychange', () => void look());
setInterval(() => {
  if (document.visibilityState === 'visible') void look();
}, EVERY_MS);
tell('Asking …', 'waiting');
void look();
