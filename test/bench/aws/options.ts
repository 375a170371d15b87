import { OperatorError } from '../../../operator/base/errors';
import { type Flags, parseFlags, wholeNumber } from '../../harness/command-options';
import type { ContestantName } from './contestant';
import { PHASES, type Phase } from './phases';
import { VARIANTS, type Variant } from './variants';

export interface Options {
  services: number;
  nodes: number;
  /** In their order; `create` is always among them, since the others need its load balancers. */
  phases: Phase[];
  variants: Variant[];
  contestants: ContestantName[];
}

export const HELP = `Usage: npm run bench:aws -- [options]

Runs cloud-provider-aws's cloud-controller-manager and then cloud-operator over the same Nodes and Services, each on a Kubernetes API server of its own and
against a fresh moto (a simulated AWS API) behind a proxy that counts, delays and throttles. Prints wall time, calls and writes of each phase, memory, and what
differs in the AWS objects that result (explained in docs/differences-aws.md). Exit code 1 where a goal is missed, or a difference is not explained.

The whole takes about half an hour on two cores; the first time five minutes more, to build the peer from its Go module.

Options:
  --services <n>    Network Load Balancers of two ports each (default: 50)
  --nodes <n>       Nodes (default: 5)
  --phase <name>    only this one and create; may be repeated: ${PHASES.join(', ')} (default: all)
  --variant <name>  only this one; may be repeated (default: all):
${VARIANTS.map(({ name, title }) => `                      ${name.padEnd(14)}${title}`).join('\n')}
  --only <who>      ours or upstream (default: both)
  -h, --help        show this help
`;

const FLAGS = {
  services: { type: 'string', default: '50' },
  nodes: { type: 'string', default: '5' },
  phase: { type: 'string', multiple: true, default: [] },
  variant: { type: 'string', multiple: true, default: [] },
  only: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} satisfies Flags;

/**
 * @returns undefined when the help was asked for
 * @throws OperatorError Invalid with one line about the argument at fault
 */
export function optionsOf(args: readonly string[]): Options | undefined {
  const values = parseFlags(args, FLAGS);
  if (values.help) return undefined;
  const phases = named('--phase', values.phase, PHASES);
  const variants = named(
    '--variant',
    values.variant,
    VARIANTS.map(({ name }) => name),
  );
  return {
    services: wholeNumber('--services', values.services, 4),
    nodes: wholeNumber('--nodes', values.nodes, 4),
    phases: PHASES.filter((phase) => phase === 'create' || phases.includes(phase)),
    variants: VARIANTS.filter(({ name }) => variants.includes(name)),
    contestants: named('--only', values.only === undefined ? [] : [values.only], ['upstream', 'ours']),
  };
}

/** What was asked for; nothing = all. */
function named<Name extends string>(flag: string, given: readonly string[], all: readonly Name[]): Name[] {
  const stranger = given.find((name) => !all.includes(name as Name));
  if (stranger !== undefined) throw new OperatorError('Invalid', `${flag} must be one of ${all.join(', ')}, not "${stranger}"`);
  return given.length === 0 ? [...all] : all.filter((name) => given.includes(name));
}
