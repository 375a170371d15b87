import { toYaml } from '../../crds/yaml';
import { OperatorError } from '../../operator/base/errors';
import type { Condition } from './condition';
import { templateOf } from './values';
import type { Decision } from './choices';

/** What stands in one place under one decision. */
export interface Variant {
  decision: Decision;
  value: unknown;
}

type Fields = Record<string, unknown>;

/**
 * One template for what differs by decision: whatever all have in common stands once, the rest under the shortest test that tells when it is there.
 * So each rendering is what the manifests would be.
 */
export class Template {
  constructor(private readonly condition: Condition) {}

  /** Of a whole object, which not every decision has. */
  object(variants: Variant[], all: Decision[]): string {
    return `${this.guarded(variants, all, this.fields(variants, 0)).join('\n')}\n`;
  }

  private fields(variants: Variant[], indent: number): string[] {
    const keys = [...new Set(variants.flatMap(({ value }) => Object.keys(value as Fields)))].sort();
    return keys.flatMap((key) => {
      const having = variants
        .filter(({ value }) => key in (value as Fields))
        .map(({ decision, value }) => ({ decision, value: (value as Fields)[key] }));
      return this.guarded(having, decisionsIn(variants), this.field(key, having, indent));
    });
  }

  private field(key: string, variants: Variant[], indent: number): string[] {
    const head = `${' '.repeat(indent)}${key}:`;
    const values = variants.map(({ value }) => value);
    if (areSame(values)) return yamlLines({ [key]: values[0] }, indent);
    if (values.every(isFields)) return [head, ...this.fields(variants, indent + 2)];
    if (values.every(Array.isArray)) return [head, ...this.elements(variants, indent + 2)];
    return groupsOf(variants).flatMap((group) => this.guarded(group, decisionsIn(variants), yamlLines({ [key]: group[0]?.value }, indent)));
  }

  private elements(variants: Variant[], indent: number): string[] {
    const lists = variants.map(({ value }) => value as unknown[]);
    return orderOf(lists).flatMap((identity) => {
      const having = variants.flatMap(({ decision, value }) => {
        const element = (value as unknown[]).find((one) => identityOf(one) === identity);
        return element === undefined ? [] : [{ decision, value: element }];
      });
      const [first] = having;
      const lines = areSame(having.map(({ value }) => value))
        ? yamlLines([first?.value], indent)
        : [`${' '.repeat(indent)}-`, ...this.fields(having, indent + 2)];
      return this.guarded(having, decisionsIn(variants), lines);
    });
  }

  private guarded(having: Variant[], all: Decision[], lines: string[]): string[] {
    const test = this.condition.of(decisionsIn(having), all);
    return test === undefined ? lines : [`{{- if ${test} }}`, ...lines, '{{- end }}'];
  }
}

function decisionsIn(variants: Variant[]): Decision[] {
  return variants.map(({ decision }) => decision);
}

function areSame(values: unknown[]): boolean {
  return new Set(values.map((value) => JSON.stringify(value))).size === 1;
}

function isFields(value: unknown): value is Fields {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** Those of one value together. */
function groupsOf(variants: Variant[]): Variant[][] {
  const texts = variants.map(({ value }) => JSON.stringify(value));
  return [...new Set(texts)].map((text) => variants.filter((_, index) => texts[index] === text));
}

/** What makes an element the same one in two lists: its name, where it has one. */
function identityOf(element: unknown): string {
  return isFields(element) && typeof element.name === 'string' ? `name ${element.name}` : JSON.stringify(element);
}

/** The elements of all lists in an order that each list keeps. @throws OperatorError Invalid when there is none */
function orderOf(lists: unknown[][]): string[] {
  const order: string[] = [];
  for (const list of lists) {
    let at = 0;
    for (const identity of list.map(identityOf)) {
      const found = order.indexOf(identity);
      if (found === -1) order.splice(at, 0, identity);
      at = (found === -1 ? at : found) + 1;
    }
  }
  for (const identities of lists.map((list) => list.map(identityOf))) {
    const kept = order.filter((identity) => identities.includes(identity));
    if (kept.join('\n') !== identities.join('\n')) throw new OperatorError('Invalid', `no order fits all lists of ${kept.join(', ')}`);
  }
  return order;
}

/** As the manifests have it, with values in place of their words, and with what Helm would take for a template of its own protected. */
function yamlLines(value: object, indent: number): string[] {
  const templates: string[] = [];
  const marked = toYaml(
    JSON.parse(JSON.stringify(value), (_, one: unknown) => {
      const template = templateOf(one);
      return template === undefined ? one : `helm-mark-${templates.push(template) - 1}-`;
    }) as object,
  );
  return marked
    .trimEnd()
    .split('\n')
    .map((line) => line.replaceAll('{{', '{{ "{{" }}').replaceAll(/helm-mark-(\d+)-/g, (_, at: string) => templates[Number(at)] ?? ''))
    .map((line) => (line === '' ? line : ' '.repeat(indent) + line));
}
