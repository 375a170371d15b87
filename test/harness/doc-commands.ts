import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../operator/entry';

/** One code block of a page, as its commands. */
export interface CommandBlock {
  /** Path in the project. */
  page: string;
  /** In their order; each whole, with its continued lines, here-document or loop, and without comments at its end. */
  commands: string[];
}

const PROGRAMS =
  /^(apt-get|chown|cloud-operator|curl|docker|echo|export|for|helm|kubeadm|kubectl|kubelet|ln|npm|npx|pulumi|skopeo|source|sudo|[A-Za-z_]+=)/;

/** The pages that have commands: README, CONTRIBUTING and docs/, without the decisions. */
export function pages(): string[] {
  const docs = readdirSync(join(PROJECT_ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.md'));
  return ['README.md', 'CONTRIBUTING.md', ...docs.filter((path) => !path.startsWith('decisions')).map((path) => `docs/${path}`)].sort();
}

/** Blocks of no language, or a shell's, by their first lines, that are nothing to type: what is printed, and drawings. */
export function shownBlocks(page: string): string[] {
  return fencedIn(page).flatMap((lines) => (commandsOf(lines).length === 0 ? [lines.find((line) => line.trim() !== '') ?? ''] : []));
}

/** What a reader of a page is told to type. With a prompt (`$ `) in a block, the other lines are what is printed. */
export function commandBlocks(page: string): CommandBlock[] {
  const blocks = fencedIn(page).map((lines) => ({ page, commands: commandsOf(lines) }));
  return blocks.filter(({ commands }) => commands.length > 0);
}

function fencedIn(page: string): string[][] {
  const text = readFileSync(join(PROJECT_ROOT, page), 'utf8');
  const fenced = [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].filter(([, language = '']) => ['', 'sh', 'bash'].includes(language));
  return fenced.map(([, , body = '']) => body.split('\n'));
}

function commandsOf(lines: string[]): string[] {
  const prompted = lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2));
  const typed = prompted.length > 0 ? prompted : lines;
  if (!PROGRAMS.test(typed[0] ?? '')) return [];
  const commands: string[] = [];
  for (let at = 0; at < typed.length; at += 1) {
    const begin = at;
    const isWhole = endOf(typed[at] ?? '');
    while (!isWhole(typed[at] ?? '') && at < typed.length - 1) at += 1;
    const command = typed.slice(begin, at + 1).join('\n');
    if (!/^(#|\s*$)/.test(command)) commands.push(command.replace(/\s+#\s.*$/, ''));
  }
  return commands;
}

/** How the last line of a command is known, by its first. */
function endOf(first: string): (line: string) => boolean {
  if (first.includes('<<EOF')) return (line) => line === 'EOF';
  if (first.startsWith('for ')) return (line) => line === 'done';
  return (line) => !/[\\|]$/.test(line.replace(/\s+#\s.*$/, ''));
}
