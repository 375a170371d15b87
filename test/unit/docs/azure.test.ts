import type { Annotation } from '../../../providers/azure/annotations/annotation';
import { ANNOTATIONS, OF_PORTS, WITHOUT_EFFECT } from '../../../providers/azure/annotations/annotation-table';
import { FIELDS, WITHOUT_EFFECT as FIELDS_WITHOUT_EFFECT } from '../../../providers/azure/config/azure-json-fields';
import { expectGenerated } from '../../golden/golden';

const PAGE = 'docs/clouds/azure.md';

/** A bar would end the cell, an angle bracket begin a tag, a star begin emphasis. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('*', '\\*');

function table(annotations: readonly Annotation[], without: Readonly<Record<string, string>> = {}): string {
  const heads = ['annotation', 'field', 'default', 'changes in place', 'only', 'value'];
  const rows = annotations.map(({ name, field, default: fallback, mutable, only, expects }) => [
    `\`${name}\``,
    `\`${field}\``,
    cell(fallback),
    mutable ? 'yes' : 'no',
    only ?? '',
    cell(expects),
  ]);
  const others = Object.entries(without).map(([name, why]) => [`\`${name}\``, '', '', '', '', `without effect: ${cell(why)}`]);
  return [heads, heads.map(() => '---'), ...rows, ...others].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** Fields of azure.json that are read, and why the others are not. */
function fieldsOfJson(): string {
  const without = Object.entries(FIELDS_WITHOUT_EFFECT).map(([name, why]) => `| \`${name}\` | ${cell(why)} |`);
  const read = Object.keys(FIELDS).map((name) => `\`${name}\``);
  return [`Read: ${read.join(', ')}.`, '', '| without effect | why |', '| --- | --- |', ...without].join('\n');
}

describe('docs/clouds/azure.md', () => {
  it('has every field of azure.json', () => {
    expectGenerated(PAGE, 'azure-json', fieldsOfJson());
  });

  it('has every annotation', () => {
    expectGenerated(PAGE, 'annotations', table(ANNOTATIONS, WITHOUT_EFFECT));
  });

  it('has those of single ports', () => {
    expectGenerated(PAGE, 'ports', table(OF_PORTS));
  });
});
