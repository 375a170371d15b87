/**
 * The part of Prometheus' query language in which our alerts are written, by its rules (selectors with a look-back of five minutes, rate and increase
 * with their extrapolation, aggregation, comparison and set operators). Everything else is refused, so that no expression is passed over.
 */

export type Labels = Record<string, string>;

/** Samples of one series, one for each step from time 0 on; undefined = none. */
export interface Series {
  name: string;
  labels: Labels;
  samples: (number | undefined)[];
}

export interface Sample {
  labels: Labels;
  value: number;
}

/** Seconds between two samples. */
export const STEP = 60;
const LOOK_BACK = 300;

type Expression =
  | { is: 'number'; value: number }
  | { is: 'selector'; name: string; matchers: Matcher[]; range?: number }
  | { is: 'call'; name: string; argument: Expression }
  | { is: 'aggregation'; name: string; by: string[]; argument: Expression }
  | { is: 'operation'; operator: string; left: Expression; right: Expression };

interface Matcher {
  label: string;
  operator: string;
  value: string;
}

/** `name{label="value"}` and samples in promtool's notation: `0+1x10` is eleven samples from 0 on, `5x2` three of 5, `_x3` three that are missing. */
export function series(selector: string, notation: string): Series {
  const parsed = new Parser(selector).whole();
  if (parsed.is !== 'selector') throw new Error(`${selector} is no series`);
  const labels = Object.fromEntries(parsed.matchers.map(({ label, value }) => [label, value]));
  const samples = notation.split(' ').flatMap((word) => {
    const [, start = '', , step = '0', times] = /^(_|-?[\d.]+)(([+-][\d.]+))?(?:x(\d+))?$/.exec(word) ?? [];
    if (start === '') throw new Error(`${word} is no sample`);
    if (start === '_') return Array<undefined>(Number(times ?? 1)).fill(undefined);
    return Array.from({ length: Number(times ?? 0) + 1 }, (_, index) => Number(start) + index * Number(step));
  });
  return { name: parsed.name, labels, samples };
}

/** @param at seconds after the first sample */
export function evaluate(expression: string, all: readonly Series[], at: number): Sample[] {
  const value = new Evaluation(all, at).of(new Parser(expression).whole());
  if (typeof value === 'number') throw new Error('a number is no alert');
  return value;
}

/** Names of the metrics of an expression, and the labels that it names. */
export function namesIn(expression: string): { metrics: { name: string; labels: string[] }[]; by: string[] } {
  const metrics: { name: string; labels: string[] }[] = [];
  const by: string[] = [];
  const visit = (one: Expression): void => {
    if (one.is === 'selector') metrics.push({ name: one.name, labels: one.matchers.map(({ label }) => label) });
    if (one.is === 'aggregation') by.push(...one.by);
    if (one.is === 'operation') [one.left, one.right].forEach(visit);
    if (one.is === 'call' || one.is === 'aggregation') visit(one.argument);
  };
  visit(new Parser(expression).whole());
  return { metrics, by };
}

const LEVELS = [['unless'], ['==', '>', '<'], ['/']];
const AGGREGATIONS = ['sum', 'max'];
const CALLS = ['absent', 'rate', 'increase'];

class Parser {
  private readonly tokens: string[];
  private at = 0;

  constructor(private readonly text: string) {
    this.tokens = [...text.matchAll(/\s*("(?:[^"\\]|\\.)*"|[A-Za-z_:][\w:]*|\d+(?:\.\d+)?[smhd]?|=~|!~|!=|==|[{}()[\],=<>/])/gy)].map(
      ([, token]) => token ?? '',
    );
    if (this.tokens.join('') !== text.replace(/\s(?=(?:[^"]*"[^"]*")*[^"]*$)/g, '')) throw new Error(`what is this: ${text}`);
  }

  whole(): Expression {
    const expression = this.operation(0);
    if (this.at < this.tokens.length) throw new Error(`${this.tokens[this.at]} is too much in ${this.text}`);
    return expression;
  }

  private operation(level: number): Expression {
    const operators = LEVELS[level];
    if (operators === undefined) return this.operand();
    let left = this.operation(level + 1);
    while (operators.includes(this.tokens[this.at] ?? '')) {
      const operator = this.next();
      left = { is: 'operation', operator, left, right: this.operation(level + 1) };
    }
    return left;
  }

  private operand(): Expression {
    const token = this.next();
    if (token === '(') return this.closed(this.operation(0));
    if (/^\d/.test(token)) return { is: 'number', value: Number(token) };
    if (AGGREGATIONS.includes(token)) {
      this.expect('by');
      const by = this.list('(', ')', () => this.next());
      this.expect('(');
      return { is: 'aggregation', name: token, by, argument: this.closed(this.operation(0)) };
    }
    if (this.tokens[this.at] === '(') {
      if (!CALLS.includes(token)) throw new Error(`function ${token} is not known here`);
      this.next();
      return { is: 'call', name: token, argument: this.closed(this.operation(0)) };
    }
    return this.selector(token);
  }

  private selector(name: string): Expression {
    if (!/^[A-Za-z_:]/.test(name)) throw new Error(`${name} is no metric`);
    const matcher = (): Matcher => ({ label: this.next(), operator: this.next(), value: JSON.parse(this.next()) as string });
    const matchers = this.tokens[this.at] === '{' ? this.list('{', '}', matcher) : [];
    if (this.tokens[this.at] !== '[') return { is: 'selector', name, matchers };
    this.next();
    const range = secondsOf(this.next());
    this.expect(']');
    return { is: 'selector', name, matchers, range };
  }

  private list<T>(open: string, close: string, read: () => T): T[] {
    this.expect(open);
    const all: T[] = [];
    while (this.tokens[this.at] !== close) {
      if (all.length > 0) this.expect(',');
      all.push(read());
    }
    this.expect(close);
    return all;
  }

  private closed(expression: Expression): Expression {
    this.expect(')');
    return expression;
  }

  private next(): string {
    const token = this.tokens[this.at++];
    if (token === undefined) throw new Error(`${this.text} ends too early`);
    return token;
  }

  private expect(token: string): void {
    const found = this.next();
    if (found !== token) throw new Error(`${found} in place of ${token} in ${this.text}`);
  }
}

/** `15m` → 900. */
export function secondsOf(text: string): number {
  const [, digits = '', unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? [];
  const seconds = { s: 1, m: 60, h: 3600, d: 86_400 }[unit];
  if (seconds === undefined) throw new Error(`${text} is no duration`);
  return Number(digits) * seconds;
}

class Evaluation {
  constructor(
    private readonly all: readonly Series[],
    private readonly at: number,
  ) {}

  of(expression: Expression): Sample[] | number {
    switch (expression.is) {
      case 'number':
        return expression.value;
      case 'selector':
        return this.instant(expression);
      case 'aggregation':
        return aggregated(expression.name, expression.by, this.vector(expression.argument));
      case 'call':
        return this.call(expression.name, expression.argument);
      case 'operation':
        return this.operation(expression.operator, expression.left, expression.right);
    }
  }

  private vector(expression: Expression): Sample[] {
    const value = this.of(expression);
    if (typeof value === 'number') throw new Error('a vector is needed, not a number');
    return value;
  }

  private instant(selector: Expression & { is: 'selector' }): Sample[] {
    if (selector.range !== undefined) throw new Error(`${selector.name}: a range is no instant`);
    return this.selected(selector).flatMap(({ name, labels, samples }) => {
      const found = pointsIn(samples, this.at - LOOK_BACK, this.at).at(-1);
      return found === undefined ? [] : [{ labels: { __name__: name, ...labels }, value: found.value }];
    });
  }

  private selected({ name, matchers }: Expression & { is: 'selector' }): Series[] {
    return this.all.filter((one) => one.name === name && matchers.every((matcher) => matches(matcher, one.labels[matcher.label] ?? '')));
  }

  private call(name: string, argument: Expression): Sample[] {
    if (name === 'absent') return this.vector(argument).length > 0 ? [] : [{ labels: {}, value: 1 }];
    if (argument.is !== 'selector' || argument.range === undefined) throw new Error(`${name} needs a range`);
    const { range } = argument;
    return this.selected(argument).flatMap(({ labels, samples }) => {
      const increase = increaseOf(pointsIn(samples, this.at - range, this.at), this.at - range, this.at);
      if (increase === undefined) return [];
      return [{ labels, value: name === 'rate' ? increase / range : increase }];
    });
  }

  private operation(operator: string, left: Expression, right: Expression): Sample[] {
    const from = this.vector(left);
    const to = this.of(right);
    const key = ({ labels }: Sample): string => JSON.stringify(Object.entries(withoutName(labels)).sort());
    if (operator === 'unless') {
      if (typeof to === 'number') throw new Error('unless needs a vector');
      const others = new Set(to.map(key));
      return from.filter((sample) => !others.has(key(sample)));
    }
    return from.flatMap((sample) => {
      const other = typeof to === 'number' ? to : to.find((one) => key(one) === key(sample))?.value;
      if (other === undefined) return [];
      if (operator === '/') return [{ labels: withoutName(sample.labels), value: sample.value / other }];
      return compares(operator, sample.value, other) ? [sample] : [];
    });
  }
}

function withoutName(labels: Labels): Labels {
  return Object.fromEntries(Object.entries(labels).filter(([label]) => label !== '__name__'));
}

function compares(operator: string, a: number, b: number): boolean {
  return operator === '==' ? a === b : operator === '>' ? a > b : a < b;
}

/** Regular expressions are anchored at both ends. */
function matches({ operator, value }: Matcher, actual: string): boolean {
  const found = operator.endsWith('~') ? new RegExp(`^(?:${value})$`).test(actual) : value === actual;
  return operator.startsWith('!') ? !found : found;
}

function aggregated(name: string, by: string[], samples: Sample[]): Sample[] {
  const keyOf = ({ labels }: Sample): string =>
    JSON.stringify(by.filter((label) => label in labels).map((label) => [label, labels[label]]));
  return [...new Set(samples.map(keyOf))].map((key) => {
    const values = samples.filter((sample) => keyOf(sample) === key).map(({ value }) => value);
    const value = name === 'sum' ? values.reduce((a, b) => a + b, 0) : Math.max(...values);
    return { labels: Object.fromEntries(JSON.parse(key) as [string, string][]), value };
  });
}

interface Point {
  time: number;
  value: number;
}

/** Later than `from`, up to `to`. */
function pointsIn(samples: Series['samples'], from: number, to: number): Point[] {
  return samples.flatMap((value, index) => {
    const time = index * STEP;
    return value === undefined || time <= from || time > to ? [] : [{ time, value }];
  });
}

/** A counter's growth, resets counted, stretched to the ends of the range unless the series begins or ends within it. */
function increaseOf(points: Point[], from: number, to: number): number | undefined {
  const [first] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined || points.length < 2) return undefined;
  const resets = points.reduce((sum, { value }, index) => {
    const before = points[index - 1]?.value ?? value;
    return value < before ? sum + before : sum;
  }, 0);
  const delta = last.value - first.value + resets;
  const sampled = last.time - first.time;
  const between = sampled / (points.length - 1);
  const limit = between * 1.1;
  const untilZero = delta > 0 && first.value >= 0 ? sampled * (first.value / delta) : Infinity;
  const before = Math.min(first.time - from >= limit ? between / 2 : first.time - from, untilZero);
  const after = to - last.time >= limit ? between / 2 : to - last.time;
  return delta * ((sampled + before + after) / sampled);
}
