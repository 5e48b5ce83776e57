/** `mcap-ros2 completion`: what a shell needs to complete verbs and options, made from the verbs themselves. */
import type { Command } from 'commander';
import { EXIT, StdoutWriter } from '../output.js';
import type { ExitCode } from '../output.js';

export async function completion(shell: 'bash' | 'zsh', program: Command): Promise<ExitCode> {
  const out = new StdoutWriter();
  await out.write(shell === 'bash' ? bash(program) : zsh(program));
  await out.finish();
  return EXIT.whole;
}

/** A verb's words: its own verbs and options. */
function wordsOf(command: Command): string[] {
  const options = command.options.flatMap(({ short, long }) => [short, long]);
  const verbs = command.commands.map((verb) => verb.name());
  return [...verbs, ...options, '--help'].filter((word) => word !== undefined);
}

/** The choices of options that have them, by the option's name. */
function choicesOf(command: Command): [string, readonly string[]][] {
  return [...command.commands.flatMap((verb) => [verb, ...verb.commands])]
    .flatMap((verb) => verb.options)
    .flatMap(({ long, argChoices }) =>
      argChoices === undefined || long === undefined ? [] : [[long, argChoices] as [string, readonly string[]]],
    );
}

/** Options of one name have the same choices but for `--format`: all of them are offered. */
function merged(choices: readonly [string, readonly string[]][]): Map<string, Set<string>> {
  const all = new Map<string, Set<string>>();
  for (const [name, words] of choices) all.set(name, new Set([...(all.get(name) ?? []), ...words]));
  return all;
}

function bash(program: Command): string {
  const verbs = program.commands.map((verb) => `    ${verb.name()}) words="${wordsOf(verb).join(' ')}" ;;`);
  const choices = [...merged(choicesOf(program))].map(
    ([name, words]) => `    ${name}) COMPREPLY=($(compgen -W "${[...words].join(' ')}" -- "$current")); return ;;`,
  );
  return `# bash completion of mcap-ros2: eval "$(mcap-ros2 completion bash)"
_mcap_ros2() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${wordsOf(program).join(' ')}" -- "$current"))
    return
  fi
  case "$previous" in
${choices.join('\n')}
  esac
  case "\${COMP_WORDS[1]}" in
${verbs.join('\n')}
  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current") $(compgen -W "$(printf '%s\\n' $words | grep -v '^-')" -- "$current")) ;;
  esac
}
complete -o filenames -F _mcap_ros2 mcap-ros2
`;
}

function zsh(program: Command): string {
  const verbs = program.commands.map((verb) => `    ${verb.name()}) words_of_verb=(${wordsOf(verb).join(' ')}) ;;`);
  const choices = [...merged(choicesOf(program))].map(
    ([name, words]) => `    ${name}) compadd -- ${[...words].join(' ')}; return ;;`,
  );
  return `#compdef mcap-ros2
# zsh completion of mcap-ros2: eval "$(mcap-ros2 completion zsh)"
_mcap_ros2() {
  local -a words_of_verb
  if (( CURRENT == 2 )); then
    compadd -- ${wordsOf(program).join(' ')}
    return
  fi
  case "\${words[CURRENT-1]}" in
${choices.join('\n')}
  esac
  case "\${words[2]}" in
${verbs.join('\n')}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then
    compadd -- \${words_of_verb[@]}
  else
    compadd -- \${words_of_verb[@]:#-*}
    _files
  fi
}
compdef _mcap_ros2 mcap-ros2
`;
}
