import { Command } from "commander";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { addLazyCommands, type LazyCommands } from "../../platform/cli/lazy-command.ts";

const COMMANDS: LazyCommands = {
  start: {
    description: "run the interchain query relayer until asked to stop",
    load: async () => (await import("./relayer-start.ts")).startCommand,
  },
  once: {
    description: "submit one result per query, whether or not it is due, and exit",
    load: async () => (await import("../../relayer/cli/relayer-once.ts")).onceCommand,
  },
  "dry-run": {
    description:
      "prove and simulate every query without sending anything, and compare with another relayer's results",
    load: async () => (await import("../../relayer/cli/preview-commands.ts")).dryRunCommand,
  },
  doctor: {
    description: "check endpoints, account, light clients and one proof per connection",
    load: async () => (await import("../../relayer/cli/preview-commands.ts")).doctorCommand,
  },
  plan: {
    description:
      "estimate what a set of queries will cost in the chain's fee market, and how late results will be",
    load: async () => (await import("../../relayer/cli/plan-command.ts")).planCommand,
  },
  queries: {
    description: "list a running relayer's queries",
    load: async () => (await import("../../relayer/cli/api-commands.ts")).queriesCommand,
  },
  inspect: {
    description: "show one query: state, attempts, cost and proof, and why it has no result",
    load: async () => (await import("../../relayer/cli/preview-commands.ts")).inspectCommand,
  },
  reload: {
    description: "make a running relayer reload its configuration, as SIGHUP does",
    load: async () => (await import("../../relayer/cli/api-commands.ts")).relayerReloadCommand,
  },
  "log-level": {
    description: "print or set the log level of a running relayer",
    load: async () => (await import("../../relayer/cli/api-commands.ts")).relayerLogLevelCommand,
  },
  "import-leveldb": {
    description: "import the Go relayer's storage",
    load: async () => (await import("../../relayer/cli/go-relayer-commands.ts")).importLevelDbCommand,
  },
  "dead-letters": {
    description: "list, resend or acknowledge a running relayer's dead letters",
    load: async () => (await import("../../relayer/cli/api-commands.ts")).deadLettersCommand,
  },
};

export function relayerCommand(context: CliContext): Promise<Command> {
  return addLazyCommands(new Command(), COMMANDS, context);
}
