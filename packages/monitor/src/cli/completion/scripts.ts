// The completion script of each shell. All three call `svc complete -- <words>` and do nothing else, so a new verb needs
// no new script. Typed words and returned values are compared and copied, never evaluated: a command substitution in
// either stays text. A value outside the plain letters is always dropped.
import { PLAIN_LETTERS } from './value-kinds.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** The commands that install it where the shell finds it. */
export const installLines: Readonly<Record<Shell, readonly string[]>> = {
  bash: ['svc completion bash > ~/.svc-completion.bash', 'echo ". ~/.svc-completion.bash" >> ~/.bashrc'],
  zsh: ['svc completion zsh > ~/.svc-completion.zsh', 'echo ". ~/.svc-completion.zsh" >> ~/.zshrc'],
  fish: ['mkdir -p ~/.config/fish/completions', 'svc completion fish > ~/.config/fish/completions/svc.fish'],
};

export function completionScript(shell: Shell): string {
  return scripts[shell];
}

// Bash splits words at = too. Only COMP_LINE shows whether there was a space, so the words are looked up along it.
// It also runs in bash 3.2, which has no compopt and offers no files.
const bash = `# bash completion for svc
_svc() {
  local word rest=\${COMP_LINE#*"\${COMP_WORDS[0]}"} i line value
  local -a typed=()
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if ((i > 1)) && [[ $rest != [[:blank:]]* ]]; then typed[\${#typed[@]} - 1]+=$word; else typed+=("$word"); fi
    rest=\${rest#*"$word"}
  done
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :0) [[ $(type -t compopt) == builtin ]] && compopt -o default ;;
      :*) ;;
      *)
        value=\${line%%$'\\t'*}
        [[ -z $value || $value == *[!${PLAIN_LETTERS}]* ]] || COMPREPLY+=("$value")
        ;;
    esac
  done < <(command svc complete -- "\${typed[@]//[\\"\\'\\\\]/}" 2>/dev/null </dev/null)
}
complete -F _svc svc
`;

const zsh = `#compdef svc
# zsh completion for svc
_svc() {
  local line value files=0
  local -a typed found
  typed=("\${(@Q)words[2,CURRENT]}")
  typed[-1]=\${(Q)PREFIX}
  while IFS= read -r line; do
    case $line in
      :0) files=1 ;;
      :*) ;;
      *)
        value=\${line%%$'\\t'*}
        [[ -z $value || $value == *[^${PLAIN_LETTERS}]* ]] && continue
        [[ $line == *$'\\t'* ]] && value+=:\${line#*$'\\t'}
        found+=("$value")
        ;;
    esac
  done < <(command svc complete -- "\${typed[@]}" 2>/dev/null </dev/null)
  compset -P '--*='
  if ((files)); then _files; else _describe -t values svc found; fi
}
if [[ \${funcstack[1]} == _svc ]]; then
  _svc "$@"
elif ((\${+functions[compdef]})); then
  compdef _svc svc
else
  print -u2 'svc: completion needs compinit. Put it before this in ~/.zshrc: autoload -Uz compinit && compinit'
fi
`;

const fish = `# fish completion for svc
function __svc_complete
    set -l typed (commandline -opc)
    set -e typed[1]
    set -l current (commandline -ct | string replace -ra '[\\'"\\\\\\\\]' '')
    set -l option (string match -r -- '^--[^=]*=' "$current")
    for line in (command svc complete -- $typed "$current" 2>/dev/null </dev/null)
        switch $line
            case ':0'
                set -l path (string replace -r -- '^--[^=]*=' '' "$current")
                for found in (__fish_complete_path "$path")
                    printf '%s%s\\n' "$option" "$found"
                end
            case ':*'
            case '*'
                set -l parts (string split -m 1 \\t -- $line)
                string match -qr -- '^[${PLAIN_LETTERS}]+$' $parts[1]; and printf '%s%s\\n' "$option" "$line"
        end
    end
end
complete -c svc -e
complete -c svc -f -a '(__svc_complete)'
`;

const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish };
