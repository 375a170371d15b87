/** Labels of an object, by key. */
export type Labels = Readonly<Record<string, string>>;

/** Which labels are asked for: all that it says must hold (kubernetes.io, "Labels and Selectors"). An empty one asks for nothing. */
export interface LabelSelector {
  matchLabels?: Labels | undefined;
  matchExpressions?: readonly LabelRequirement[] | undefined;
}

/** One thing that is asked of one label. */
export interface LabelRequirement {
  key: string;
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  /** Of In and NotIn. */
  values?: readonly string[] | undefined;
}

/** True for one that asks for nothing. Pure. */
export function isEmptySelector(selector: LabelSelector): boolean {
  return keysOf(selector).length === 0;
}

/** Keys of the labels that it depends on. Pure. */
export function keysOf({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string[] {
  return [...Object.keys(matchLabels), ...matchExpressions.map(({ key }) => key)];
}

/** True where labels are as it asks. Pure. */
export function selects(selector: LabelSelector, labels: Labels): boolean {
  return unmetBy(selector, labels) === undefined;
}

/** The first thing that it asks for and labels don't meet, as `kubectl -l` reads it: `tier=edge`, `tier in (edge,core)`; undefined = they meet all. Pure. */
export function unmetBy({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Labels): string | undefined {
  const label = Object.entries(matchLabels).find(([key, value]) => labels[key] !== value);
  if (label !== undefined) return label.join('=');
  const requirement = matchExpressions.find((one) => !meets(labels[one.key], one));
  return requirement === undefined ? undefined : textOf(requirement);
}

/** A label that is absent is in no list: NotIn holds. */
function meets(value: string | undefined, { operator, values = [] }: LabelRequirement): boolean {
  if (operator === 'Exists') return value !== undefined;
  if (operator === 'DoesNotExist') return value === undefined;
  const isListed = value !== undefined && values.includes(value);
  return operator === 'In' ? isListed : !isListed;
}

function textOf({ key, operator, values = [] }: LabelRequirement): string {
  if (operator === 'Exists') return key;
  if (operator === 'DoesNotExist') return `!${key}`;
  return `${key} ${operator.toLowerCase()} (${values.join(',')})`;
}
