import { ANNOTATIONS, UNSUPPORTED, UNSUPPORTED_PREFIXES } from '../../../providers/aws/annotations/annotation-table';
import { CALLS, type Capability, iamPolicy } from '../../../providers/aws/iam-policy';
import { expectGenerated } from '../../golden/golden';

const PAGE = 'docs/clouds/aws.md';

/** A bar would end the cell, an angle bracket begin a tag, a star begin emphasis. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('*', '\\*');

/** What stands for each kind of change. */
const IN_PLACE = { true: 'yes', false: 'no', TargetGroups: 'by target groups', Classic: 'Classic' } as const;

function table(heads: string[], rows: string[][]): string {
  return [heads, heads.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

describe('docs/clouds/aws.md', () => {
  it('has every annotation', () => {
    const rows = ANNOTATIONS.map(({ name, field, default: fallback, mutable, only, expects }) => [
      `\`${name}\``,
      field === '' ? '' : `\`${field}\``,
      cell(fallback),
      field === '' && mutable === false ? '–' : IN_PLACE[String(mutable) as keyof typeof IN_PLACE],
      only ?? '',
      cell(expects),
    ]);
    expectGenerated(PAGE, 'annotations', table(['annotation', 'field', 'default', 'changes in place', 'only', 'value'], rows));
  });

  it('has what is not done', () => {
    const rows = Object.entries({ ...UNSUPPORTED, ...UNSUPPORTED_PREFIXES }).map(([name, remedy]) => [`\`${name}\``, cell(remedy)]);
    expectGenerated(PAGE, 'unsupported', table(['annotation', 'why, and what to do'], rows));
  });

  it('has the IAM policy', () => {
    const policy = iamPolicy(Object.keys(CALLS) as Capability[]);
    expectGenerated(PAGE, 'iam-policy', `\`\`\`json\n${JSON.stringify(policy, null, 2)}\n\`\`\``);
  });
});
