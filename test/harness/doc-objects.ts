import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { API_VERSION } from '../../crds';
import { PROJECT_ROOT } from '../../operator/entry';
import { pages } from './doc-pages';
import { snippetsOf } from './snippets';

export interface DocObject {
  /** Path in the project. */
  page: string;
  object: {
    apiVersion: string;
    kind: string;
    metadata: { name: string; annotations?: Record<string, string> };
    spec: Record<string, unknown>;
  };
}

/** What the docs show as YAML, whole objects and parts of them, and the files of examples/. */
function documents(): { page: string; value: unknown }[] {
  const shown = pages().flatMap((page) => {
    const text = readFileSync(join(PROJECT_ROOT, page), 'utf8');
    const inShell = [...text.matchAll(/<<EOF\n(.*?)^EOF$/gms)].map(([, yaml = '']) => yaml);
    return [...snippetsOf(text, 'yaml'), ...inShell].map((yaml) => ({ page, value: parse(yaml) as unknown }));
  });
  const files = readdirSync(join(PROJECT_ROOT, 'examples')).filter((name) => name.endsWith('.yaml'));
  const inFiles = files.flatMap((name) => {
    const page = `examples/${name}`;
    const all = parseAllDocuments(readFileSync(join(PROJECT_ROOT, page), 'utf8'));
    return all.map((document) => ({ page, value: document.toJS() as unknown }));
  });
  return [...shown, ...inFiles];
}

/** Objects of one kind; a part of a CloudLoadBalancer's spec, or the settings of a CloudProvider's file, stands in the smallest one. */
export function docObjects(kind: string): DocObject[] {
  return documents()
    .map(({ page, value }) => ({ page, object: wholeOf(value as Partial<DocObject['object']>) as DocObject['object'] }))
    .filter(({ object }) => object.kind === kind);
}

function wholeOf(part: Partial<DocObject['object']> & { local?: object }): Partial<DocObject['object']> {
  if (part.kind !== undefined) return part;
  const { spec, metadata, local } = part;
  const named = { apiVersion: API_VERSION, metadata: { name: 'shown' } };
  if (local !== undefined) return { ...named, kind: 'CloudProvider', spec: { ...part } };
  if (spec !== undefined) {
    const listeners = [{ name: 'http', port: 80, nodePort: 30_080 }];
    return { ...named, kind: 'CloudLoadBalancer', spec: { provider: 'local', listeners, ...spec } };
  }
  if (metadata !== undefined) return { apiVersion: 'v1', kind: 'Service', metadata: { ...metadata, name: 'shown' }, spec: {} };
  return part;
}

export interface Spoilt {
  /** As an API server names it: spec.listeners[0].port. */
  field: string;
  value: Record<string, unknown>;
}

/** Each field in turn under a misspelt name, and with a value of another type. Pure. */
export function spoilt(value: Record<string, unknown>, path: string): Spoilt[] {
  return Object.entries(value).flatMap(([key, child]) => {
    const others = Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
    const field = `${path}.${key}`;
    const wrong = typeof child === 'object' && child !== null && !Array.isArray(child) ? 'spoilt' : { spoilt: true };
    const inside = Array.isArray(child) ? inList(child, field) : isObject(child) ? spoilt(child, field) : [];
    return [
      { field: `${field}x`, value: { ...others, [`${key}x`]: child } },
      { field, value: { ...value, [key]: wrong } },
      ...inside.map((one) => ({ field: one.field, value: { ...value, [key]: one.value } })),
    ];
  });
}

function inList(list: unknown[], path: string): { field: string; value: unknown }[] {
  return list.flatMap((item, at) => {
    const put = (one: unknown): unknown[] => list.map((each, other) => (other === at ? one : each));
    const field = `${path}[${at}]`;
    if (!isObject(item)) return [{ field, value: put({ spoilt: true }) }];
    return spoilt(item, field).map((one) => ({ field: one.field, value: put(one.value) }));
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
