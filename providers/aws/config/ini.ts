/** One section of a file in the form of git's configuration. */
export interface IniSection {
  /** In lower case: names of sections are the same in capitals or not. */
  name: string;
  /** What stands in quotes after the name, as it is. */
  subsection?: string;
  line: number;
  entries: IniEntry[];
}

export interface IniEntry {
  /** As written; names of variables are the same in capitals or not. */
  key: string;
  /** undefined where there is no `=`: the variable is only named. */
  value?: string;
  line: number;
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', b: '\b', '"': '"', '\\': '\\' };

/**
 * Reads a file in the form of git's configuration: `[section]`, `[section "sub"]`, `key = value`, comments after `#` and `;`, quotes with escapes,
 * and lines that go on after a backslash. A key may stand there more than once. Pure.
 * @throws Error with the number of the line
 */
export function parseIni(text: string): IniSection[] {
  const sections: IniSection[] = [];
  for (const { content, line } of logicalLines(text)) {
    const trimmed = content.trim();
    if (trimmed === '' || /^[#;]/.test(trimmed)) continue;
    if (trimmed.startsWith('[')) {
      sections.push(sectionOf(trimmed, line));
      continue;
    }
    const section = sections.at(-1);
    if (section === undefined) throw new Error(`line ${line}: "${trimmed}" stands before the first section; begin with [Global]`);
    section.entries.push(entryOf(trimmed, line));
  }
  return sections;
}

function logicalLines(text: string): { content: string; line: number }[] {
  const lines: { content: string; line: number }[] = [];
  let open: { content: string; line: number } | undefined;
  for (const [index, raw] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const at = open ?? { content: '', line: index + 1 };
    const goesOn = /(^|[^\\])(\\\\)*\\$/.test(raw);
    at.content += goesOn ? raw.slice(0, -1) : raw;
    open = goesOn ? at : undefined;
    if (!goesOn) lines.push(at);
  }
  return open === undefined ? lines : [...lines, open];
}

function sectionOf(text: string, line: number): IniSection {
  const match = /^\[\s*([A-Za-z0-9.-]+)\s*(?:"((?:[^"\\]|\\.)*)"\s*)?\]\s*([#;].*)?$/.exec(text);
  if (match === null) throw new Error(`line ${line}: "${text}" is no section; write [Global] or [ServiceOverride "1"]`);
  const [, name = '', subsection] = match;
  return {
    name: name.toLowerCase(),
    ...(subsection === undefined ? {} : { subsection: subsection.replaceAll(/\\(.)/g, '$1') }),
    line,
    entries: [],
  };
}

function entryOf(text: string, line: number): IniEntry {
  const match = /^([A-Za-z][A-Za-z0-9-]*)\s*(?:=(.*)|([#;].*))?$/s.exec(text);
  if (match === null) throw new Error(`line ${line}: "${text}" is neither a section nor key = value`);
  const [, key = '', value] = match;
  return value === undefined ? { key, line } : { key, value: valueOf(value, line), line };
}

/** Text outside quotes loses the blanks around it and ends at a comment; within quotes everything counts. */
function valueOf(text: string, line: number): string {
  let quoted = false;
  let value = '';
  /** Up to here the value can't be trimmed: it ends in quotes or an escape. */
  let kept = 0;
  for (let index = 0; index < text.length; index += 1) {
    const char = text.charAt(index);
    if (char === '"') {
      quoted = !quoted;
      kept = value.length;
    } else if (char === '\\') {
      index += 1;
      value += escapeOf(text.charAt(index), line);
      kept = value.length;
    } else if (!quoted && (char === '#' || char === ';')) {
      break;
    } else if (quoted || value !== '' || kept > 0 || char.trim() !== '') {
      value += char;
    }
  }
  if (quoted) throw new Error(`line ${line}: a quote is opened and not closed`);
  return value.slice(0, kept) + value.slice(kept).trimEnd();
}

function escapeOf(char: string, line: number): string {
  const meant = ESCAPES[char];
  if (meant === undefined) throw new Error(`line ${line}: "\\${char}" is no escape; write \\\\ for a backslash`);
  return meant;
}
