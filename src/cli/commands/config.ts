import { Command } from "commander";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { addLazyCommands, type LazyCommand } from "../../platform/cli/lazy-command.ts";

const COMMANDS: readonly LazyCommand[] = [
  {
    name: "validate",
    description: "check configuration files; referenced secrets must be readable",
    load: async () => (await import("./config-validate.ts")).validateCommand,
  },
  {
    name: "from-env",
    description: "print the relayer's configuration from the Go relayer's variables",
    load: async () => (await import("../../relayer/cli/go-relayer-commands.ts")).fromEnvCommand,
  },
];

/** `relaywatch config`. */
export function configCommand(context: CliContext): Promise<Command> {
  return addLazyCommands(new Command(), COMMANDS, context);
}
