import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import type { Clock } from '../base/clock';
import { PROJECT_ROOT } from '../entry';
import type { PageAnswer, ServedPage } from '../server/served-page';
import type { Caches } from './caches';
import { detailsOf } from './details';
import { overviewOf, type Answering } from './overview';

/** Where the page is; people are given the right to `get` it and what is beneath it. */
export const PAGE_PATH = '/ui';

/** The page looks every few seconds, and many may look at it: the same answer is given for so long, in milliseconds. */
const FRESH_MS = 1_000;

const HTML = 'text/html; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

/** Its own files, and no others. */
const ASSETS: Record<string, { file: string; type: string }> = {
  '/': { file: 'page.html', type: HTML },
  '/page.css': { file: 'page.css', type: 'text/css; charset=utf-8' },
  '/icon.svg': { file: 'icon.svg', type: 'image/svg+xml' },
  ...Object.fromEntries(
    ['page', 'elements', 'graph', 'lists', 'details'].map((name) => [`/${name}.js`, { file: `${name}.js`, type: SCRIPT }]),
  ),
};

/** Nothing but the page's own files runs, is shown or is asked; no text becomes markup, not even by a mistake of the page's. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // What it says is for who asked, and for now.
  'cache-control': 'no-store',
};

/** A read-only page about what the operator's caches hold, and the JSON that it is made of (docs/operate/page.md). */
export class Page implements ServedPage {
  readonly path = PAGE_PATH;
  private readonly files = new Map<string, string>();
  private overview: { until: number; text: string; etag: string } | undefined;

  constructor(
    private readonly caches: Caches,
    private readonly operator: () => Answering,
    private readonly clock: Clock,
  ) {}

  answer(url: URL, headers: IncomingHttpHeaders): PageAnswer {
    const below = url.pathname.slice(PAGE_PATH.length);
    if (below === '') return { status: 308, headers: { ...HEADERS, location: `.${PAGE_PATH}/` }, body: '' };
    if (below === '/overview.json') return this.overviewAnswer(headers['if-none-match']);
    if (below === '/object.json') return this.objectAnswer(url.searchParams);
    const asset = Object.hasOwn(ASSETS, below) ? ASSETS[below] : undefined;
    if (asset === undefined) return text(404, 'not found; try /ui/\n');
    return { status: 200, headers: { ...HEADERS, 'content-type': asset.type }, body: this.read(asset.file) };
  }

  private overviewAnswer(known: string | undefined): PageAnswer {
    const now = this.clock.monotonic();
    if (this.overview === undefined || now >= this.overview.until) {
      const body = JSON.stringify(overviewOf(this.caches, this.operator()));
      const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
      this.overview = { until: now + FRESH_MS, text: body, etag };
    }
    const { etag, text: body } = this.overview;
    if (known === etag) return { status: 304, headers: { ...HEADERS, etag }, body: '' };
    return { status: 200, headers: { ...HEADERS, 'content-type': 'application/json', etag }, body };
  }

  private objectAnswer(query: URLSearchParams): PageAnswer {
    const [kind, name] = [query.get('kind') ?? '', query.get('name') ?? ''];
    const details = detailsOf(kind, name, this.caches);
    if (details === undefined) return text(404, 'there is no such object\n');
    return { status: 200, headers: { ...HEADERS, 'content-type': 'application/json' }, body: JSON.stringify(details) };
  }

  /** Kept: they are of this release. */
  private read(file: string): string {
    const known = this.files.get(file) ?? readFileSync(join(PROJECT_ROOT, 'operator/ui/assets', file), 'utf8');
    this.files.set(file, known);
    return known;
  }
}

function text(status: number, body: string): PageAnswer {
  return { status, headers: { ...HEADERS, 'content-type': 'text/plain; charset=utf-8' }, body };
}
