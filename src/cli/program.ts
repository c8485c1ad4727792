import { Command } from "commander";
import { type CliContext, formattedContext } from "../platform/cli/cli-context.ts";
import { addLazyCommands, type LazyCommands } from "../platform/cli/lazy-command.ts";
import { exampleHelp } from "./examples.ts";
import { readBuildInfo } from "../platform/process/build-info.ts";

/** Top-level commands. To add a command, add a row here and a file in `commands/`. */
const COMMANDS: LazyCommands = {
  up: {
    description: "run two local chains, a price sidecar, the relayer and the watchdog in one process",
    load: async () => (await import("./commands/up.ts")).upCommand,
  },
  localnet: {
    description: "two local chains and a simulated price sidecar",
    load: async () => (await import("./commands/localnet.ts")).localnetCommand,
  },
  relayer: {
    description: "interchain query relayer",
    load: async () => (await import("./commands/relayer.ts")).relayerCommand,
  },
  watchdog: {
    description: "oracle watchdog",
    load: async () => (await import("./commands/watchdog-start.ts")).watchdogCommand,
  },
  status: {
    description:
      "show the validators' rate, tier, headroom and alerts; exits with 1 if there is a problem, 3 if there is no data",
    load: async () => (await import("../watchdog/cli/oracle-status.ts")).statusCommand,
  },
  why: {
    description:
      "explain current problems and how to fix them, and what caused this month's misses; exits with 1 if there is a problem, 3 if there is no data",
    load: async () => (await import("./commands/why.ts")).whyCommand,
  },
  forecast: {
    description: "forecast how the month will end, and show how far away each boundary is",
    load: async () => (await import("../watchdog/cli/oracle-status.ts")).forecastCommand,
  },
  "what-if": {
    description: "estimate the cost of an outage or a sidecar restart that starts now",
    load: async () => (await import("../watchdog/cli/oracle-status.ts")).whatIfCommand,
  },
  alerts: {
    description: "list, test and silence alerts",
    load: async () => (await import("../watchdog/cli/alerts.ts")).alertsCommand,
  },
  report: {
    description: "create reports on months, shifts and the relayer",
    load: async () => (await import("./commands/report.ts")).reportCommand,
  },
  query: {
    aliases: ["q"],
    description: "query a chain's state",
    load: async () => (await import("./commands/module-commands.ts")).queryCommand,
  },
  tx: {
    description: "send a transaction to a chain",
    load: async () => (await import("./commands/module-commands.ts")).txCommand,
  },
  keys: {
    description: "create, list, export and import keys of an SDK keyring",
    load: async () => (await import("../cosmos/cli/keys.ts")).keysCommand,
  },
  wasm: {
    description: "check a contract's code",
    load: async () => (await import("../workbench/cli/wasm-inspect.ts")).wasmCommand,
  },
  config: {
    description: "check configuration files, or create one from the Go relayer's settings",
    load: async () => (await import("./commands/config.ts")).configCommand,
  },
  completion: {
    description: "print the command-line completion script for bash, zsh or fish",
    load: async () => (await import("./commands/completion.ts")).completionCommand,
  },
  man: {
    description: "print a command's manual page, or write all manual pages",
    load: async () => {
      const { manCommand } = await import("./commands/man.ts");
      return (context) => manCommand(context, createProgram);
    },
  },
  "link-go-name": {
    description:
      "install the Go relayer's command name, neutron_query_relayer, so that existing scripts and services keep working",
    load: async () => (await import("./commands/link-go-name.ts")).linkGoNameCommand,
  },
  __complete: {
    description: "print the words that may follow",
    isHidden: true,
    load: async () => {
      const { completeCommand } = await import("./commands/completion.ts");
      return (context) => completeCommand(context, createProgram);
    },
  },
  version: {
    description: "print the version",
    load: async () => (await import("./commands/version.ts")).versionCommand,
  },
};

/** Creates the command line, whose parse functions throw a `CommanderError` instead of exiting the process. */
export async function createProgram(context: CliContext): Promise<Command> {
  const program = new Command("relaywatch")
    .description("Operations toolkit for Neutron-family chains: relayer, oracle watchdog, local chains")
    .version(readBuildInfo().version, "-v, --version");
  const { context: formatted, offerFormats } = formattedContext(context);
  await addLazyCommands(program, COMMANDS, formatted);
  offerFormats(program);
  return withExamples(withSettings(program), []);
}

/** Configures error reports for a command and its subcommands, because Commander's `addCommand` does not pass on settings. */
export function withSettings(command: Command): Command {
  command
    .exitOverride()
    .showHelpAfterError("(add --help for usage)")
    .hook("preSubcommand", rejectUnknownWord)
    .configureOutput({
      // Commander formats the reason as a separate sentence, but our reasons continue the sentence.
      outputError: (text, write) =>
        write(text.replace(/^error: /, `${nameOf(command)}: `).replace(/ is invalid\. /, " is invalid: ")),
    });
  for (const inner of command.commands) withSettings(inner);
  return command;
}

/** Rejects an unknown word where Commander would pass the word to the default command, which takes no arguments. */
function rejectUnknownWord(group: Command, chosen: Command): void {
  const [word] = group.args;
  if (word === undefined || word.startsWith("-") || chosen.registeredArguments.length > 0) return;
  const isNamed = [chosen.name(), ...chosen.aliases()].includes(word);
  if (!isNamed && canRejectWords(group)) group.unknownCommand();
}

/** Returns true if Commander has this method, which its types omit. It reports the word as it reports other unknown commands. */
function canRejectWords(group: Command): group is Command & { readonly unknownCommand: () => void } {
  return "unknownCommand" in group;
}

/** Returns the program's name, with which all error messages start. */
function nameOf(command: Command): string {
  return command.parent === null ? command.name() : nameOf(command.parent);
}

function withExamples(command: Command, path: readonly string[]): Command {
  command.addHelpText("after", () => exampleHelp(command, path));
  for (const inner of command.commands) withExamples(inner, [...path, inner.name()]);
  return command;
}
