import type { Annotation } from '../../../providers/azure/annotations/annotation';
import { ANNOTATIONS, OF_PORTS, WITHOUT_EFFECT } from '../../../providers/azure/annotations/annotation-table';
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

describe('docs/clouds/azure.md', () => {
  it('has every annotation', () => {
    expectGenerated(PAGE, 'annotations', table(ANNOTATIONS, WITHOUT_EFFECT));
  });

  it('has those of single ports', () => {
    expectGenerated(PAGE, 'ports', table(OF_PORTS));
  });
});
