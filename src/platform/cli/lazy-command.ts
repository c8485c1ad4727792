import { Command } from "commander";
import type { CliContext } from "./cli-context.ts";

/** Groups load their own subcommands and are therefore asynchronous. */
type CreateCommand = (context: CliContext) => Command | Promise<Command>;

/** A row in a command table. The command's code is loaded only if the command line names the command. */
export interface LazyCommand {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly description: string;
  /** Hidden from the help text. */
  readonly isHidden?: true;
  readonly load: () => Promise<CreateCommand>;
}

/**
 * Adds commands to `parent`. A command that is not on the command line gets only its name and description, for the help text.
 * Loading all commands takes about one second of CPU time.
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
