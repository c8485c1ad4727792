import { Command } from "commander";
import type { ModuleSet } from "../../localnet/genesis/module-choice.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { addLazyCommands, type LazyCommand } from "../../platform/cli/lazy-command.ts";

const COMMANDS: readonly LazyCommand[] = [
  {
    name: "start",
    description: "run the localnet, or some of its parts, until asked to stop",
    load: async () => (await import("./localnet-start.ts")).startCommand,
  },
  {
    name: "fault",
    description: "list the failures that can be injected into sidecar and node, or switch one",
    load: async () => (await import("../../localnet/cli/localnet-fault.ts")).faultCommand,
  },
  {
    name: "time",
    description: "show the time of both chains, move it ahead or make it faster",
    load: async () => (await import("../../localnet/cli/localnet-time.ts")).timeCommand,
  },
  {
    name: "mine",
    description: "make blocks on both chains immediately",
    load: async () => (await import("../../localnet/cli/localnet-time.ts")).mineCommand,
  },
  {
    name: "halt",
    description: "make no more blocks until resumed",
    load: async () => (await import("../../localnet/cli/localnet-time.ts")).haltCommand,
  },
  {
    name: "resume",
    description: "make blocks again",
    load: async () => (await import("../../localnet/cli/localnet-time.ts")).resumeCommand,
  },
  {
    name: "snapshot",
    description: "keep the present state of both chains, to go back to it",
    load: async () => (await import("../../localnet/cli/localnet-snapshot.ts")).snapshotCommand,
  },
  {
    name: "revert",
    description: "take both chains back to a snapshot; what came after it is gone",
    load: async () => (await import("../../localnet/cli/localnet-snapshot.ts")).revertCommand,
  },
  {
    name: "faucet",
    description: "send coins of the test account faucet to an address",
    load: async () => (await import("../../localnet/cli/localnet-time.ts")).faucetCommand,
  },
  {
    name: "rehearse",
    description: "play what takes weeks on a running localnet: the end of a month, a client that expires, …",
    load: async () => (await import("../../localnet/cli/localnet-rehearse.ts")).rehearseCommand,
  },
  {
    name: "scenario",
    description: "run a scenario on a running localnet and print each step",
    load: async () => (await import("../../localnet/cli/localnet-scenario.ts")).scenarioCommand,
  },
  {
    name: "accounts",
    description: "print the funded test accounts (PUBLIC TEST KEYS: everybody can spend from them)",
    load: async () => (await import("../../localnet/cli/localnet-accounts.ts")).accountsCommand,
  },
  {
    name: "keplr",
    description: "print both chains as the wallet Keplr takes them",
    load: async () => (await import("../../localnet/cli/localnet-keplr.ts")).keplrCommand,
  },
  {
    name: "profile",
    description:
      "list where specification and deployed chain differ, and what the profile of a chain decides",
    load: async () => (await import("../../localnet/cli/localnet-profile.ts")).profileCommand,
  },
  {
    name: "export",
    description: "print a chain's state as a genesis document; the chain may be running",
    load: async () => {
      const { exportCommand } = await import("../../localnet/cli/localnet-export.ts");
      const set = await modules();
      return (context) => exportCommand(context, set);
    },
  },
  {
    name: "import",
    description: "prepare an empty home to start with a genesis document, such as `localnet export` prints",
    load: async () => {
      const { importCommand } = await import("../../localnet/cli/localnet-export.ts");
      const set = await modules();
      return (context) => importCommand(context, set);
    },
  },
];

/** Modules that any chain's state may have. */
async function modules(): Promise<ModuleSet> {
  return (await import("../../workbench/modules/workbench-modules.ts")).WORKBENCH_MODULES;
}

/** `relaywatch localnet`. */
export function localnetCommand(context: CliContext): Promise<Command> {
  return addLazyCommands(new Command(), COMMANDS, context);
}
