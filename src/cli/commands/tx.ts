import { Command } from "commander";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { withGasReports } from "../../localnet/cli/gas-reports.ts";
import type { moduleMessages } from "../../localnet/cli/tx/modules.ts";
import type { benchMessages } from "../../workbench/cli/bench-messages.ts";
import { lazyGasReports } from "./lazy-gas-reports.ts";
import { addLazyCommands, type LazyCommands } from "../../platform/cli/lazy-command.ts";

/** One transaction group per chain module. */
const MODULES: LazyCommands = {
  bank: { description: "send coins", load: rows("bank") },
  interchainqueries: {
    aliases: ["icq"],
    description: "interchain queries: submit a result, remove a query",
    load: rows("interchainqueries"),
  },
  dex: {
    description: "decentralized exchange: deposit, withdraw, place and cancel limit orders, swap",
    load: async () => (await import("../../localnet/cli/tx/dex.ts")).txDexCommand,
  },
  staking: {
    description: "create and edit a validator, delegate, undelegate, redelegate",
    load: async () => (await import("../../localnet/cli/tx/staking.ts")).txStakingCommand,
  },
  slashing: { description: "release a jailed validator", load: rows("slashing") },
  wasm: {
    description: "upload code; instantiate, call and migrate contracts",
    load: async () => (await import("../../localnet/cli/tx/wasm.ts")).txWasmCommand,
  },
  harpoon: { description: "choose the hook types for which a contract is called", load: rows("harpoon") },
  transfer: {
    description: "send coins to an account on another chain",
    load: async () => (await import("../../localnet/cli/tx/transfer.ts")).txTransferCommand,
  },
  "ibc-transfer": {
    description: "the same with ibc-go's arguments",
    load: async () => (await import("../../localnet/cli/tx/transfer.ts")).txIbcTransferCommand,
  },
  ibc: {
    description: "update a light client, open and close channels",
    load: async () => (await import("../../localnet/cli/tx/ibc.ts")).txIbcCommand,
  },
  tokenfactory: {
    description: "create denominations; mint and burn their coins",
    load: bench("tokenfactory"),
  },
  "ibc-rate-limit": {
    description: "choose the contract that limits transfers to other chains",
    load: rows("ibc-rate-limit"),
  },
  feerefunder: {
    description: "set the fees that contracts pay to the relayers of their packets",
    load: bench("feerefunder"),
  },
  vesting: {
    description: "create accounts whose coins vest",
    load: async () => (await import("../../localnet/cli/tx/vesting.ts")).txVestingCommand,
  },
  upgrade: { description: "plan an upgrade, or cancel the plan", load: rows("upgrade") },
  gov: {
    description: "governance of the remote chain: propose, deposit, vote",
    load: async () => (await import("../../localnet/cli/tx/gov.ts")).txGovCommand,
  },
};

export function txCommand(context: CliContext): Promise<Command> {
  return addLazyCommands(new Command(), MODULES, withGasReports(context, lazyGasReports));
}

/** Loads the command for a module whose messages are all rows of one table. */
function rows(name: Parameters<typeof moduleMessages>[0]): LazyCommands[string]["load"] {
  return async () => (await import("../../localnet/cli/tx/modules.ts")).moduleMessages(name);
}

/** Like {@link rows}, for a workbench module. */
function bench(name: Parameters<typeof benchMessages>[0]): LazyCommands[string]["load"] {
  return async () => (await import("../../workbench/cli/bench-messages.ts")).benchMessages(name);
}
