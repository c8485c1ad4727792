import { Command } from "commander";
import type { ModuleSet } from "../../localnet/genesis/chain-files.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { addLazyCommands, type LazyCommands } from "../../platform/cli/lazy-command.ts";

const COMMANDS: LazyCommands = {
  start: {
    description: "run the localnet, or some of its parts, until asked to stop",
    load: async () => (await import("./localnet-start.ts")).startCommand,
  },
  fault: {
    description:
      "list the failures that can be injected into sidecar and node, or switch a failure on or off",
    load: async () => (await import("../../localnet/cli/localnet-fault.ts")).faultCommand,
  },
  time: {
    description: "show the time of both chains, move it ahead or speed it up",
    load: async () => (await import("../../localnet/cli/control-commands.ts")).timeCommand,
  },
  mine: {
    description: "make blocks on both chains immediately",
    load: async () => (await import("../../localnet/cli/control-commands.ts")).mineCommand,
  },
  halt: {
    description: "stop making blocks until `localnet resume`",
    load: async () => (await import("../../localnet/cli/control-commands.ts")).haltCommand,
  },
  resume: {
    description: "resume making blocks",
    load: async () => (await import("../../localnet/cli/control-commands.ts")).resumeCommand,
  },
  snapshot: {
    description: "save the current state of both chains, so that you can return to it later",
    load: async () => (await import("../../localnet/cli/control-commands.ts")).snapshotCommand,
  },
  revert: {
    description: "return both chains to a snapshot; all later state is lost",
    load: async () => (await import("../../localnet/cli/control-commands.ts")).revertCommand,
  },
  faucet: {
    description: "send coins from the faucet test account to an address",
    load: async () => (await import("../../localnet/cli/control-commands.ts")).faucetCommand,
  },
  rehearse: {
    description:
      "rehearse events that normally take weeks, such as a month's end or an expiring client, on a running localnet",
    load: async () => (await import("../../localnet/cli/localnet-rehearse.ts")).rehearseCommand,
  },
  scenario: {
    description: "run a scenario on a running localnet and print each step",
    load: async () => (await import("../../localnet/cli/localnet-scenario.ts")).scenarioCommand,
  },
  accounts: {
    description: "print the funded test accounts (PUBLIC TEST KEYS: anyone can spend from them)",
    load: async () => (await import("../../localnet/cli/localnet-accounts.ts")).accountsCommand,
  },
  keplr: {
    description: "print both chains' data in the Keplr wallet's format",
    load: async () => (await import("../../localnet/cli/localnet-accounts.ts")).keplrCommand,
  },
  profile: {
    description:
      "list the differences between the specification and the deployed chain, and what a chain's profile determines",
    load: async () => (await import("../../localnet/cli/localnet-profile.ts")).profileCommand,
  },
  export: {
    description: "print a chain's state as a genesis document; the chain may be running",
    load: async () => {
      const { exportCommand } = await import("../../localnet/cli/localnet-export.ts");
      const set = await modules();
      return (context) => exportCommand(context, set);
    },
  },
  import: {
    description:
      "prepare an empty home to start from a genesis document, e.g. the output of `localnet export`",
    load: async () => {
      const { importCommand } = await import("../../localnet/cli/localnet-export.ts");
      const set = await modules();
      return (context) => importCommand(context, set);
    },
  },
};

/** Returns all modules that a chain's state may contain. */
async function modules(): Promise<ModuleSet> {
  return (await import("../../workbench/modules/workbench-modules.ts")).WORKBENCH_MODULES;
}

export function localnetCommand(context: CliContext): Promise<Command> {
  return addLazyCommands(new Command(), COMMANDS, context);
}
