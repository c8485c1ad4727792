import { Command } from "commander";
import type { CliContext } from "./cli-context.ts";

/** Creates a command; the function is asynchronous for a group of commands, which loads its own subcommands. */
type CreateCommand = (context: CliContext) => Command | Promise<Command>;

/** Commands by name. A command's code is loaded only if the command line names the command. */
export type LazyCommands = Readonly<Record<string, LazyCommand>>;

interface LazyCommand {
  readonly aliases?: readonly string[];
  readonly description: string;
  /** True if the help text omits the command. */
  readonly isHidden?: true;
  readonly load: () => Promise<CreateCommand>;
}

/** Special list of words that includes every word, so that all commands are loaded, for example for the manual pages. */
export const ALL_COMMANDS: readonly string[] = Object.assign([], { includes: () => true });

/** Returns the subcommands that a command's help lists, without `help` itself. */
export function visibleCommands(command: Command): readonly Command[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== "help");
}

/**
 * Adds subcommands to `parent`. Only a command named on the command line is loaded; others get just a name and description for the
 * help text, because loading all commands takes about one second of CPU time.
 */
export async function addLazyCommands(
  parent: Command,
  commands: LazyCommands,
  context: CliContext,
): Promise<Command> {
  for (const [name, { aliases = [], description, isHidden, load }] of Object.entries(commands)) {
    const isNamed = [name, ...aliases].some((word) => context.words.includes(word));
    const command = isNamed ? await (await load())(context) : new Command();
    command.name(name).aliases(aliases).description(description);
    parent.addCommand(command, { hidden: isHidden === true });
  }
  return parent;
}
