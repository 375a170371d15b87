import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../operator/entry';
import { pages } from './doc-pages';

/** One command that a reader is told to type. */
export interface DocCommand {
  /** Path of its page in the project, and its line there: a failure names both. */
  page: string;
  line: number;
  /** Whole, with its continued lines, here-document or loop, and without a comment at its end. */
  text: string;
  /** What the page shows as its output; none where the block has no prompt. */
  shown: string[];
}

interface Line {
  number: number;
  text: string;
}

const PROGRAMS =
  /^(apt-get|chown|cloud-operator|curl|docker|echo|export|for|helm|kubeadm|kubectl|kubelet|ln|npm|npx|pulumi|skopeo|source|sudo|[A-Za-z_]+=)/;

/** Languages of blocks that may have commands. */
const SHELLS = ['', 'sh', 'bash'];

/** The fenced blocks of all pages that have commands, each as its commands in their order. */
export function commandBlocks(): DocCommand[][] {
  return pages().flatMap((page) =>
    fencedIn(page)
      .map((lines) => commandsIn(page, lines))
      .filter((commands) => commands.length > 0),
  );
}

/** Blocks of no language, or a shell's, that have nothing to type: what is printed, and drawings. By page and first line. */
export function shownBlocks(): string[] {
  return pages().flatMap((page) =>
    fencedIn(page)
      .filter((lines) => commandsIn(page, lines).length === 0)
      .map(
        (lines) =>
          `${page}: ${lines
            .find(({ text }) => text.trim() !== '')
            ?.text.trim()
            .slice(0, 20)
            .trim()}`,
      ),
  );
}

/** What a page says between backquotes in its text that begins with one of our own programs' names. */
export function inlineCommands(): DocCommand[] {
  return pages().flatMap((page) =>
    linesOf(page).flatMap(({ number, text }) =>
      [...text.matchAll(/`((?:npx )?(?:cloud-operator|kubectl cloud) [^`]+)`/g)].map((found) => ({
        page,
        line: number,
        text: found[1] ?? '',
        shown: [],
      })),
    ),
  );
}

function linesOf(page: string): Line[] {
  const text = readFileSync(join(PROJECT_ROOT, page), 'utf8');
  return text.split('\n').map((line, at) => ({ number: at + 1, text: line }));
}

function fencedIn(page: string): Line[][] {
  const blocks: Line[][] = [];
  let open: { language: string; lines: Line[] } | undefined;
  for (const line of linesOf(page)) {
    const [, fence] = /^```(\w*)$/.exec(line.text) ?? [];
    if (fence === undefined) {
      open?.lines.push(line);
    } else if (open === undefined) {
      open = { language: fence, lines: [] };
    } else {
      if (SHELLS.includes(open.language)) blocks.push(open.lines);
      open = undefined;
    }
  }
  return blocks;
}

/** With a prompt (`$ `) in a block, the other lines are what is printed. */
function commandsIn(page: string, lines: Line[]): DocCommand[] {
  if (lines.some(({ text }) => text.startsWith('$ '))) return promptedIn(page, lines);
  if (!PROGRAMS.test(lines[0]?.text ?? '')) return [];
  const commands: DocCommand[] = [];
  const left = [...lines];
  for (let next = left.shift(); next !== undefined; next = left.shift()) commands.push({ page, ...wholeOf(next, left), shown: [] });
  return commands.filter(isCommand);
}

function promptedIn(page: string, lines: Line[]): DocCommand[] {
  const commands: DocCommand[] = [];
  const left = [...lines];
  for (let next = left.shift(); next !== undefined; next = left.shift()) {
    const { number, text } = next;
    if (text.startsWith('$ ')) commands.push({ page, ...wholeOf({ number, text: text.slice(2) }, left), shown: [] });
    else commands.at(-1)?.shown.push(text);
  }
  return commands.filter(isCommand);
}

function isCommand({ text }: DocCommand): boolean {
  return !/^(#|\s*$)/.test(text);
}

/** The command that begins with a line, whose further lines are taken from those that are left. */
function wholeOf({ number, text }: Line, left: Line[]): Pick<DocCommand, 'line' | 'text'> {
  const whole = [text];
  const isLast = endOf(text);
  while (!isLast(whole.at(-1) ?? '') && left.length > 0) whole.push(left.shift()?.text ?? '');
  return { line: number, text: whole.join('\n').replace(/\s+#\s.*$/, '') };
}

/** How the last line of a command is known, by its first. */
function endOf(first: string): (line: string) => boolean {
  if (first.includes('<<EOF')) return (line) => line === 'EOF';
  if (first.startsWith('for ')) return (line) => line === 'done';
  return (line) => !/[\\|]$/.test(line.replace(/\s+#\s.*$/, ''));
}
