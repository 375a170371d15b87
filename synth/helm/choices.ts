import type { ManifestOptions } from '../options';

/** A decision that a chart's values leave open, and that changes which objects or fields there are. */
export interface Choice {
  name: string;
  /** What it may be, and the test for it in a template. */
  outcomes: { value: string; test: string }[];
}

/** One way to decide them all: name of the choice → value. */
export type Decision = Record<string, string>;

const given = (value: string): Choice['outcomes'] => [
  { value: 'yes', test: value },
  { value: 'no', test: `not ${value}` },
];
const oneOf = (value: string, words: string[]): Choice['outcomes'] => words.map((word) => ({ value: word, test: `eq ${value} "${word}"` }));

const SHAPE: Choice[] = [
  { name: 'workload', outcomes: oneOf('.Values.workload', ['Deployment', 'DaemonSet']) },
  { name: 'network', outcomes: oneOf('.Values.network', ['Host', 'Pod']) },
];
const PARTS: Choice[] = [
  { name: 'monitoring', outcomes: given('.Values.monitoring') },
  { name: 'ui', outcomes: given('.Values.ui') },
  { name: 'apiServer', outcomes: given('.Values.apiServer.host') },
  { name: 'stateNamespace', outcomes: given('.Values.stateNamespace') },
  { name: 'secretsProvider', outcomes: given('.Values.secretsProvider') },
  { name: 'provider', outcomes: given('.Values.provider.kind') },
];

/** Those of a chart. A `controller-manager` has its workload from the flags that it was made with. */
export function choicesOf({ controllerManager }: ManifestOptions): Choice[] {
  return controllerManager === undefined ? [...SHAPE, ...PARTS] : PARTS;
}

/** Every decision that is possible. */
export function decisionsOf(choices: readonly Choice[]): Decision[] {
  const all = choices.reduce<Decision[]>(
    (before, { name, outcomes }) => before.flatMap((decision) => outcomes.map(({ value }) => ({ ...decision, [name]: value }))),
    [{}],
  );
  // A DaemonSet is for the control plane of a cluster that has no other network yet.
  return all.filter(({ workload, network }) => workload !== 'DaemonSet' || network !== 'Pod');
}
