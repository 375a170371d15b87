import type { Flag, FlagGroup } from './flag';
import { CONTROLLER_NAMES } from './controllers';
import { FeatureGates } from './feature-gates';
import { FLAG_GROUPS, type FlagDefaults } from './table';

/** Lines that belong to a flag's text and come from elsewhere. */
const MORE: Record<string, () => string[]> = {
  controllers: () => [`All controllers: ${[...CONTROLLER_NAMES].sort().join(', ')}`, 'Disabled-by-default controllers: '],
  'feature-gates': () => FeatureGates.describe(),
};

/**
 * Every flag, grouped under headings and aligned within its group, as pflag prints them.
 * @param defaults what this command has in place of the table's defaults
 */
export function flagUsages(defaults: FlagDefaults = {}): string {
  return Object.entries<FlagGroup>(FLAG_GROUPS)
    .map(([heading, group]) => `${heading} flags:\n\n${groupUsage(group, defaults)}`)
    .join('\n');
}

function groupUsage(group: FlagGroup, defaults: FlagDefaults): string {
  const shown = Object.entries(group).filter(([, { deprecated }]) => deprecated === undefined);
  const rows = shown.map(([name, flag]) => ({ left: leftSide(name, flag), right: rightSide(name, flag, defaults) }));
  const width = Math.max(...rows.map(({ left }) => left.length)) + 3;
  return rows
    .flatMap(({ left, right }) => right.map((line, index) => (index === 0 ? left : '').padEnd(width) + line))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

function leftSide(name: string, { shorthand, type }: Flag<unknown>): string {
  const short = shorthand === undefined ? '    ' : `-${shorthand}, `;
  return `  ${short}--${name}${type.name === '' ? '' : ` ${type.name}`}`;
}

function rightSide(name: string, flag: Flag<unknown>, defaults: FlagDefaults): string[] {
  const initial = (defaults as Record<string, unknown>)[name] ?? flag.default;
  const shown = flag.type.show(initial);
  const lines = [flag.usage, ...(MORE[name]?.() ?? [])];
  if (flag.inert !== undefined) lines[0] = `${flag.usage} (accepted without effect: ${flag.inert})`;
  const last = lines.pop() ?? '';
  return [...lines, shown === undefined ? last : `${last} (default ${shown})`];
}
