import { Command } from "commander";
import type { CliContext } from "../cli-context.ts";
import { addLazyCommands, type LazyCommand } from "../lazy-command.ts";

const COMMANDS: readonly LazyCommand[] = [
  {
    name: "start",
    description: "run the interchain query relayer until asked to stop",
    load: async () => (await import("./relayer-start.ts")).startCommand,
  },
];

/** `relaywatch relayer`. */
export function relayerCommand(context: CliContext): Promise<Command> {
  return addLazyCommands(new Command(), COMMANDS, context);
}
