import type { Command } from "commander";
import { silentLogger } from "../../platform/base/logger.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { createProgram } from "../program.ts";

/** Returns a Markdown table per top-level group with all commands below it, and one for the commands without a group. */
export async function commandTables(): Promise<string> {
  const context: CliContext = {
    // Every command is loaded.
    words: Object.assign([], { includes: () => true }),
    print: () => {},
    signal: new AbortController().signal,
    logger: async () => silentLogger,
    onHangup: () => () => {},
    isTerminal: false,
  };
  const commands = visible(await createProgram(context));
  const single = commands.filter((one) => visible(one).length === 0);
  const groups = commands.filter((one) => visible(one).length > 0);
  return [
    table(single.map((one) => row(one, one.name()))),
    ...groups.map((group) => `### ${group.name()}\n\n${table(leaves(group, ""))}`),
  ].join("\n");
}

function visible(command: Command): readonly Command[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== "help");
}

function leaves(command: Command, path: string): readonly string[] {
  const name = `${path}${command.name()}`;
  const inner = visible(command);
  return inner.length === 0 ? [row(command, name)] : inner.flatMap((one) => leaves(one, `${name} `));
}

function row(command: Command, path: string): string {
  const takes = command.registeredArguments.map((argument) => {
    const name = `${argument.name().toUpperCase()}${argument.variadic ? "…" : ""}`;
    return argument.required ? ` ${name}` : ` [${name}]`;
  });
  const cells = [`\`${path}${takes.join("")}\``, command.description()];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

const table = (rows: readonly string[]): string =>
  ["| command | purpose |", "|---|---|", ...rows, ""].join("\n");
