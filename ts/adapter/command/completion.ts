// What lets a shell complete the command: `eval "$(kitbag completion bash)"`.

import { CommandError } from "./output.js";
import { COMMANDS, type CommandName, flagsOf } from "./table.js";

const NAMES = Object.keys(COMMANDS) as CommandName[];

/** The beginnings of addresses. */
const SCHEMES = ["file:", "https://", "postgres://", "s3://", "sqlite:"];

const words = (all: readonly string[]) => all.join(" ");

/** The flags of a command, as they are typed. */
const flagWords = (name: CommandName) =>
  flagsOf(name).flatMap(([flag, { short }]) => [...(short ? [`-${short}`] : []), `--${flag}`]);

/** For each flag with a few values, a line of a `case` of the shell. */
function valueCases(indent: string): string {
  const found = new Map<string, readonly string[]>();
  for (const [flag, { values }] of NAMES.flatMap(flagsOf)) if (values) found.set(flag, values);
  return [...found]
    .map(([flag, values]) => `${indent}--${flag}) choices="${words(values)}" ;;`)
    .join("\n");
}

function flagCases(indent: string): string {
  return NAMES.map((name) => `${indent}${name}) choices="${words(flagWords(name))}" ;;`).join("\n");
}

// Both shells ask the same: the word before, the command, and the beginning of the word.
const bash = () => `_kitbag() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" choices=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${words([...NAMES, "help", "--help", "--version"])}" -- "$current"))
    return
  fi
  case "$before" in
${valueCases("    ")}
    completion) choices="bash zsh" ;;
    help) choices="${words([...NAMES, "addresses"])}" ;;
  esac
  if [ -z "$choices" ]; then
    case "$current" in
      -*) case "\${COMP_WORDS[1]}" in
${flagCases("        ")}
      esac ;;
      *) COMPREPLY=($(compgen -f -- "$current") $(compgen -W "${words(SCHEMES)}" -- "$current")); return ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$choices" -- "$current"))
}
complete -o filenames -F _kitbag kitbag`;

const zsh = () => `#compdef kitbag
_kitbag() {
  local before="\${words[CURRENT-1]}" current="\${words[CURRENT]}" command="\${words[2]}"
  local choices=""
  if (( CURRENT == 2 )); then
    compadd -- ${words([...NAMES, "help", "--help", "--version"])}
    return
  fi
  case "$before" in
${valueCases("    ")}
    completion) choices="bash zsh" ;;
    help) choices="${words([...NAMES, "addresses"])}" ;;
  esac
  if [[ -z "$choices" ]]; then
    if [[ "$current" != -* ]]; then
      _files
      compadd -S "" -- ${words(SCHEMES)}
      return
    fi
    case "$command" in
${flagCases("      ")}
    esac
  fi
  compadd -- \${=choices}
}
(( $+functions[compdef] )) && compdef _kitbag kitbag`;

/** The script for a shell. */
export function completion(shell: string | undefined): string {
  if (shell === "bash") return bash();
  if (shell === "zsh") return zsh();
  throw new CommandError(
    'Usage: kitbag completion bash|zsh; add eval "$(kitbag completion bash)" to ~/.bashrc',
  );
}
