import type { Flag, FlagGroup } from './flag';
import { RUN_DEFAULTS } from './run-defaults';
import { FLAG_GROUPS } from './table';

const HEAD = `<!-- Generated from operator/flags/ by \`npm run generate\`. Do not edit. -->

# Flags

\`cloud-operator controller-manager\` (also installed as \`cloud-controller-manager\`) has the flags of upstream's cloud-controller-manager, with its
defaults, its words for what can't be used, and its exit codes: 1 for flags and a lost lease, 255 for a cloud or a controller that can't be used.
\`cloud-operator run\` has the same flags; where its default differs, it is the second one. It needs no \`--cloud-provider\`.

"No effect" means: accepted, so that existing manifests go on working, and without a meaning here.
`;

/** The page docs/reference/flags.md. */
export function flagsReference(): string {
  const sections = Object.entries<FlagGroup>(FLAG_GROUPS).map(([heading, group]) => `\n## ${heading}\n\n${tableOf(group)}`);
  return `${HEAD}${sections.join('')}`;
}

function tableOf(group: FlagGroup): string {
  const rows = Object.entries(group).map(([name, flag]) => `| \`--${name}\` | ${defaultsOf(name, flag)} | ${meaningOf(flag)} |\n`);
  return `| Flag | Default | Meaning |\n| --- | --- | --- |\n${rows.join('')}`;
}

function defaultsOf(name: string, flag: Flag<unknown>): string {
  const all = [flag.default, ...(name in RUN_DEFAULTS ? [(RUN_DEFAULTS as Record<string, unknown>)[name]] : [])];
  return all.map((value) => `\`${flag.type.show(value) ?? zeroOf(value)}\``).join(' / ');
}

/** What `show` doesn't show: false, 0 and what is empty. */
function zeroOf(value: unknown): string {
  return typeof value === 'boolean' || typeof value === 'number' ? String(value) : '""';
}

function meaningOf({ usage, inert, deprecated }: Flag<unknown>): string {
  const notes = [
    ...(deprecated === undefined ? [] : [`Deprecated (${deprecated}).`]),
    ...(inert === undefined ? [] : [`No effect: ${inert}.`]),
  ];
  return [`${usage}.`, ...notes].join(' ').replaceAll('|', '\\|').replaceAll('*', '\\*');
}
