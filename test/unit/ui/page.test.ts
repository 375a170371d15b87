import type { Clock } from '../../../operator/base/clock';
import { Page } from '../../../operator/ui/page';
import type { PageAnswer } from '../../../operator/server/served-page';
import { condition, instance, loadBalancer, node, provider, route, service } from '../explain/objects';
import { cachesOf, stack } from './caches';

const OPERATOR = { version: '1.2.3', identity: 'host_1', leads: true };
const HOSTILE = '<img src=x onerror=alert(1)>';

let now = 0;
const clock: Clock = { now: () => now, monotonic: () => now, after: () => () => undefined };
const failed = [condition('Ready', 'False', 'UpdateFailed'), condition('Stalled', 'True', 'UpdateFailed', HOSTILE)];
const caches = cachesOf({
  services: [service()],
  loadBalancers: [loadBalancer({ status: { conditions: failed } })],
  nodes: [node()],
  instances: [instance()],
  providers: [provider()],
  routes: [route()],
  stacks: [stack({ attempts: [{ kind: 'Update', startedAt: '2026-01-02T03:04:05Z', result: 'Failed', message: HOSTILE }] })],
});
const page = new Page(caches, () => OPERATOR, clock);

function get(path: string, headers: Record<string, string> = {}): PageAnswer {
  return page.answer(new URL(path, 'https://localhost'), headers);
}

beforeEach(() => (now += 10_000));

test.each(['/ui/', '/ui/page.js', '/ui/page.css', '/ui/icon.svg', '/ui/overview.json', '/ui/object.json?kind=Node&name=n1', '/ui/nothing'])(
  '%s lets nothing run, be framed or be kept that is not the page’s own',
  (path) => {
    const { headers } = get(path);
    expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self';");
    expect(headers['content-security-policy']).not.toMatch(/unsafe|https?:|data:|\*/);
    expect(headers['content-security-policy']).toContain("require-trusted-types-for 'script'");
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
  },
);

test('the page has no inline script or style, and names nothing outside of it', () => {
  const { body, headers } = get('/ui/');
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  expect(body).not.toMatch(/<script>|<style|\son\w+=|style=|https?:/);
  const named = [...body.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, name]) => name ?? '');
  expect(named.length).toBeGreaterThan(2);
  const scripts = ['page.js', ...[...get('/ui/page.js').body.matchAll(/from '\.\/([^']+)'/g)].map(([, name]) => name ?? '')];
  for (const name of [...named, ...scripts]) expect([name, get(`/ui/${name}`).status]).toEqual([name, 200]);
});

test('no script makes markup of a text', () => {
  for (const name of ['page', 'elements', 'graph', 'lists', 'details'])
    expect(get(`/ui/${name}.js`).body).not.toMatch(
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|\beval\b/,
    );
});

test('/ui leads to /ui/, also beneath the path of a proxy', () => {
  const { status, headers } = get('/ui');
  expect([status, headers.location]).toEqual([308, './ui/']);
});

test('who knows the overview is told so, until something has changed', () => {
  const first = get('/ui/overview.json');
  expect([first.status, JSON.parse(first.body)]).toMatchObject([200, { schema: 1, loadBalancers: [{ name: 'shop/web' }] }]);
  const etag = first.headers.etag ?? '';
  expect(get('/ui/overview.json', { 'if-none-match': etag })).toMatchObject({ status: 304, body: '' });
  now += 10_000;
  expect(get('/ui/overview.json', { 'if-none-match': etag }).status).toBe(304);
  expect(get('/ui/overview.json', { 'if-none-match': '"other"' }).status).toBe(200);
});

test.each<[string, object]>([
  [
    'kind=Service&name=shop/web',
    { findings: [{ says: 'CloudProvider local carries it' }], tree: [{ kind: 'Service', children: [{ kind: 'CloudLoadBalancer' }] }] },
  ],
  [
    'kind=CloudLoadBalancer&name=shop/web',
    { tree: [{ kind: 'Service' }], stack: { name: 'lb-shop-web', attempts: [{ message: HOSTILE }] } },
  ],
  ['kind=CloudRoute&name=n1-10.244.1.0-24', { tree: [] }],
  ['kind=Node&name=n1', { tree: [] }],
  ['kind=CloudStack&name=lb-shop-web', { stack: { plans: [], drift: [] } }],
  ['kind=CloudProvider&name=local', { findings: [{ state: 'good' }] }],
])('/ui/object.json?%s has what is to be said of it', (query, expected) => {
  const { status, body } = get(`/ui/object.json?${query}`);
  const details = JSON.parse(body) as { findings: object[] };
  expect(status).toBe(200);
  expect(details.findings.length).toBeGreaterThan(0);
  expect({ ...details, findings: details.findings.slice(0, 1) }).toMatchObject(expected);
});

test.each(['kind=Node&name=n9', 'kind=Secret&name=shop/x', 'kind=constructor&name=x', ''])('/ui/object.json?%s is not there', (query) => {
  expect(get(`/ui/object.json?${query}`).status).toBe(404);
});

test('traffic policy Local says nothing of endpoints that nobody has looked at', () => {
  const local = cachesOf({ loadBalancers: [loadBalancer({ spec: { trafficPolicy: 'Local' } })], nodes: [node()], instances: [instance()] });
  const answer = new Page(local, () => OPERATOR, clock).answer(
    new URL('https://x/ui/object.json?kind=CloudLoadBalancer&name=shop/web'),
    {},
  );
  expect(answer.body).not.toContain('no ready endpoint');
  expect(answer.body).toContain('1 of 1 Nodes are targets, and 1 of them can take its traffic, where an endpoint is on them');
});
