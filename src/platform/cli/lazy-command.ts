import { Command } from "commander";
import type { CliContext } from "./cli-context.ts";

/** Creates a command. Groups load their own subcommands and are asynchronous. */
type CreateCommand = (context: CliContext) => Command | Promise<Command>;

/** A row in a command table. The command's code is loaded only when the command line names it. */
export interface LazyCommand {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly description: string;
  /** Hidden from the help text. */
  readonly isHidden?: true;
  readonly load: () => Promise<CreateCommand>;
}

/**
 * Adds commands to `parent`. A command that is not on the command line is added with its name and description only, for the help
 * text. Loading all commands takes about one second of CPU time, even for a short command.
 */
export async function addLazyCommands(
  parent: Command,
  commands: readonly LazyCommand[],
  context: CliContext,
): Promise<Command> {
  for (const entry of commands)
    parent.addCommand(await toCommand(entry, context), { hidden: entry.isHidden === true });
  return parent;
}

async function toCommand(entry: LazyCommand, context: CliContext): Promise<Command> {
  const names = [entry.name, ...(entry.aliases ?? [])];
  const isNamed = names.some((name) => context.words.includes(name));
  const create = isNamed ? await entry.load() : (): Command => new Command();
  const command = await create(context);
  return command
    .name(entry.name)
    .aliases(entry.aliases ?? [])
    .description(entry.description);
}
