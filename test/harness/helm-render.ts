/** What a template is rendered with. */
export interface HelmInput {
  Values: Record<string, unknown>;
  Release: { Namespace: string };
}

type Value = unknown;
type Node = { text: string } | { branches: { test: string | undefined; body: Node[] }[] };

/**
 * Renders the part of Helm's template language that our charts are written in, by Go's rules, and throws for everything else: text, values, `if`,
 * `else`, and the functions below.
 */
export function helmRender(template: string, input: HelmInput): string {
  const tokens = tokensOf(template);
  const { nodes, end } = parseUntil(tokens, 0, []);
  if (end !== tokens.length) throw new Error(`an end too many: ${tokens[end]?.text}`);
  return textOf(nodes, input);
}

interface Token {
  text: string;
  isAction: boolean;
}

/** `{{-` takes the white space before it away. */
function tokensOf(template: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (const match of template.matchAll(/(\s*)\{\{(-?)\s+?((?:"(?:[^"\\]|\\.)*"|[^"}])*?)\s*\}\}/g)) {
    const [all, space = '', dash, action = ''] = match;
    tokens.push({ text: template.slice(at, match.index) + (dash === '-' ? '' : space), isAction: false }, { text: action, isAction: true });
    at = match.index + all.length;
  }
  const rest = template.slice(at);
  if (tokens.some(({ text, isAction }) => !isAction && text.includes('{{')) || rest.includes('{{'))
    throw new Error('an action of another form');
  return [...tokens, { text: rest, isAction: false }];
}

function parseUntil(tokens: Token[], from: number, ends: string[]): { nodes: Node[]; end: number } {
  const nodes: Node[] = [];
  let at = from;
  for (; at < tokens.length; at++) {
    const { text, isAction } = tokens[at]!;
    if (!isAction) nodes.push({ text });
    else if (ends.includes(text)) return { nodes, end: at };
    else if (text.startsWith('if ')) {
      const body = parseUntil(tokens, at + 1, ['else', 'end']);
      const branches: { test: string | undefined; body: Node[] }[] = [{ test: text.slice(3), body: body.nodes }];
      at = body.end;
      if (tokens[at]?.text === 'else') {
        const other = parseUntil(tokens, at + 1, ['end']);
        branches.push({ test: undefined, body: other.nodes });
        at = other.end;
      }
      if (tokens[at]?.text !== 'end') throw new Error(`no end of "${text}"`);
      nodes.push({ branches });
    } else if (/^(else|end)\b/.test(text)) return { nodes, end: at };
    else nodes.push({ branches: [{ test: `=${text}`, body: [] }] });
  }
  return { nodes, end: at };
}

function textOf(nodes: Node[], input: HelmInput): string {
  return nodes
    .map((node) => {
      if ('text' in node) return node.text;
      const [first] = node.branches;
      if (first?.test?.startsWith('=')) return String(pipeline(first.test.slice(1), input));
      const taken = node.branches.find(({ test }) => test === undefined || isTrue(pipeline(test, input)));
      return taken === undefined ? '' : textOf(taken.body, input);
    })
    .join('');
}

/** As Go has it: what is empty or zero is false. */
function isTrue(value: Value): boolean {
  return value !== '' && value !== 0 && value !== false && value !== undefined && value !== null;
}

function pipeline(text: string, input: HelmInput): Value {
  return split(text, '|').reduce<{ value?: Value; first: boolean }>(
    ({ value, first }, part) => ({ value: command(part, input, first ? [] : [value]), first: false }),
    { first: true },
  ).value;
}

const FUNCTIONS: Record<string, (...args: Value[]) => Value> = {
  eq: (a, b) => a === b,
  not: (a) => !isTrue(a),
  and: (...all) => all.find((one) => !isTrue(one)) ?? all.at(-1),
  or: (...all) => all.find(isTrue) ?? all.at(-1),
  int: (a) => Math.trunc(Number(a)),
  // Go writes <, > and & so that a page can hold them.
  toJson: (a) => JSON.stringify(a).replace(/[<>&]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`),
  printf: (format, ...args) => {
    const values = [...args];
    return String(format).replace(/%%|%v/g, (verb) => (verb === '%%' ? '%' : String(values.shift())));
  },
  fail: (message) => {
    throw new Error(String(message));
  },
};

function command(text: string, input: HelmInput, piped: Value[]): Value {
  const [head = '', ...words] = split(text, ' ');
  const args = [...words.map((word) => operand(word, input)), ...piped];
  const called = FUNCTIONS[head];
  if (called !== undefined) return called(...args);
  if (args.length > 0) throw new Error(`no function ${head}`);
  return operand(head, input);
}

function operand(word: string, input: HelmInput): Value {
  if (word.startsWith('(')) return pipeline(word.slice(1, -1), input);
  if (word.startsWith('"')) return JSON.parse(word) as string;
  if (!/^(\.[A-Za-z]+)+$/.test(word)) throw new Error(`no value ${word}`);
  return word
    .slice(1)
    .split('.')
    .reduce<Value>((value, key) => {
      if (value === null || typeof value !== 'object' || !(key in value)) throw new Error(`nil at ${key} of ${word}`);
      return (value as Record<string, Value>)[key];
    }, input);
}

/** At a separator that is in no string and no parentheses. */
function split(text: string, separator: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const [one] of text.matchAll(/"(?:[^"\\]|\\.)*"|./g)) {
    if (one === '(') depth++;
    if (one === ')') depth--;
    if (one === separator && depth === 0) parts.push('');
    else parts[parts.length - 1] += one;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}
