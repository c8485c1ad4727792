import { Argument, Command, type Option } from "commander";
import type { CliContext } from "../../platform/cli/cli-context.ts";

type CreateProgram = (context: CliContext) => Promise<Command>;

/** Completion script for each shell, which asks the program for the possible next words. */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `# relaywatch completion bash > /etc/bash_completion.d/relaywatch
_relaywatch() {
  local IFS=$'\\n'
  COMPREPLY=($(relaywatch __complete "\${COMP_WORDS[@]:1:$COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _relaywatch relaywatch`,
  zsh: `#compdef relaywatch
# relaywatch completion zsh > "\${fpath[1]}/_relaywatch"
_relaywatch() {
  local -a candidates
  local line
  for line in "\${(@f)$(relaywatch __complete "\${(@)words[2,$CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( \${#candidates} )); then _describe relaywatch candidates; else _files; fi
}
if [[ $funcstack[1] == _relaywatch ]]; then _relaywatch "$@"; else compdef _relaywatch relaywatch; fi`,
  fish: `# relaywatch completion fish > ~/.config/fish/completions/relaywatch.fish
function __relaywatch_complete
    set -l words (commandline -opc) (commandline -ct)
    relaywatch __complete $words[2..-1] 2>/dev/null
end
complete -c relaywatch -a '(__relaywatch_complete)'`,
};

export function completionCommand(context: CliContext): Command {
  return new Command()
    .addArgument(new Argument("<shell>", "shell that will load the script").choices(Object.keys(SCRIPTS)))
    .action((shell: string) => context.print(SCRIPTS[shell] ?? ""));
}

/** `relaywatch __complete WORD…`: prints possible completions of the last WORD, each followed by a tab and its description. */
export function completeCommand(context: CliContext, createProgram: CreateProgram): Command {
  return new Command()
    .argument("[words...]", "the command line so far, without the program name")
    .helpOption(false)
    .allowUnknownOption()
    .action(async (words: readonly string[]) => {
      const program = await createProgram({ ...context, words });
      for (const { word, description } of candidates(program, words))
        context.print(`${word}\t${description}`);
    });
}

interface Candidate {
  readonly word: string;
  readonly description: string;
}

/** Returns possible completions of the last word, or none where the command line expects a file name or free text. */
export function candidates(program: Command, words: readonly string[]): readonly Candidate[] {
  const typed = words.at(-1) ?? "";
  const { command, count, open } = walk(program, words.slice(0, -1));
  return possible(command, { typed, count, open }).filter(({ word }) => word.startsWith(typed));
}

/** The completion parser's position in the command line. */
interface Place {
  readonly command: Command;
  /** Number of arguments of the command before this position. */
  readonly count: number;
  /** The option whose value is expected next, if any. */
  readonly open: Option | undefined;
}

function walk(program: Command, words: readonly string[]): Place {
  let command = program;
  let count = 0;
  let open: Option | undefined;
  for (const word of words) {
    if (open !== undefined) {
      open = undefined;
      continue;
    }
    const option = command.options.find(({ long, short }) => word === long || word === short);
    const inner = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (option !== undefined) open = takesValue(option) ? option : undefined;
    else if (inner !== undefined) [command, count] = [inner, 0];
    else if (!word.startsWith("-")) count += 1;
  }
  return { command, count, open };
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

function possible(
  command: Command,
  { typed, count, open }: Omit<Place, "command"> & { readonly typed: string },
): readonly Candidate[] {
  if (open !== undefined) return choices(open.argChoices);
  if (typed.startsWith("-"))
    return command
      .createHelp()
      .visibleOptions(command)
      .flatMap(({ long, description }) => (long ? [{ word: long, description }] : []));
  const commands = command
    .createHelp()
    .visibleCommands(command)
    .map((inner) => ({ word: inner.name(), description: inner.description() }));
  return count > 0 || commands.length === 0 ? choices(argumentAt(command, count)?.argChoices) : commands;
}

/** Returns a command's argument at a position. A variadic last argument is also used for all later positions. */
function argumentAt({ registeredArguments }: Command, count: number): Argument | undefined {
  const last = registeredArguments.at(-1);
  return registeredArguments[count] ?? (last?.variadic === true ? last : undefined);
}

function choices(words: readonly string[] = []): readonly Candidate[] {
  return words.map((word) => ({ word, description: "" }));
}
