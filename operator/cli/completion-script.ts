export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/**
 * What a shell reads once to complete `cloud-operator`: it asks the program itself, so that it never is of another version. Pure.
 * @param ask the hidden command that answers with one candidate on each line
 */
export function completionScript(shell: Shell, ask: string): string {
  return SCRIPTS[shell](ask);
}

const SCRIPTS: Record<Shell, (ask: string) => string> = {
  bash: (ask) => `_cloud_operator() {
  COMPREPLY=()
  local line
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <("\${COMP_WORDS[0]}" ${ask} -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _cloud_operator cloud-operator
`,
  zsh: (ask) => `#compdef cloud-operator
_cloud_operator() {
  local -a found
  found=("\${(@f)$("\${words[1]}" ${ask} -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=(\${found:#})
  (( \${#found} )) && compadd -a found || _files
}
if [ "$funcstack[1]" = "_cloud_operator" ]; then _cloud_operator "$@"; else compdef _cloud_operator cloud-operator; fi
`,
  fish: (ask) => `function __cloud_operator
  set -l words (commandline -opc) (commandline -ct)
  $words[1] ${ask} -- $words[2..-1] 2>/dev/null
end
complete -c cloud-operator -f -a '(__cloud_operator)'
`,
};
