/** A command with what can follow it. */
export interface Completable {
  name: string;
  options: { names: string[]; takesValue: boolean; choices: string[] }[];
  /** Words that its argument may be. */
  choices: string[];
  commands: Completable[];
}

/**
 * What the last word can become: names of commands, options and their values. Pure.
 * @param words after the program's name; the last is the one being typed, perhaps empty
 */
export function candidates(program: Completable, words: readonly string[]): string[] {
  const typed = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const command = commandAt(program, before);
  const option = optionAt(command, before.at(-1) ?? '');
  const all =
    option?.takesValue === true
      ? option.choices
      : typed.startsWith('-')
        ? longNames(command)
        : [...command.commands.map(({ name }) => name), ...command.choices];
  return all.filter((word) => word.startsWith(typed)).sort();
}

/** The command that the words so far lead to. */
function commandAt(program: Completable, words: readonly string[]): Completable {
  let at = program;
  words.forEach((word, index) => {
    if (optionAt(at, words[index - 1] ?? '')?.takesValue === true) return;
    at = at.commands.find(({ name }) => name === word) ?? at;
  });
  return at;
}

function optionAt({ options }: Completable, word: string): Completable['options'][number] | undefined {
  return options.find(({ names }) => names.includes(word));
}

function longNames({ options }: Completable): string[] {
  return [...options.flatMap(({ names }) => names.filter((name) => name.startsWith('--'))), '--help'];
}
