import { Command } from "commander";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { withGasReports } from "../../localnet/cli/gas-reports.ts";
import { benchCommand } from "../../workbench/cli/bench-command.ts";
import { gasReports } from "../../workbench/cli/gas-reports.ts";
import { addLazyCommands, type LazyCommand } from "../../platform/cli/lazy-command.ts";

/** One transaction group per chain module. */
const MODULES: readonly LazyCommand[] = [
  {
    name: "bank",
    description: "send coins",
    load: async () => (await import("../../localnet/chain/modules/bank/cli/tx.ts")).txBankCommand,
  },
  {
    name: "interchainqueries",
    aliases: ["icq"],
    description: "interchain queries: submit a result, remove a query",
    load: async () =>
      (await import("../../localnet/chain/modules/interchainqueries/cli/tx.ts")).txInterchainqueriesCommand,
  },
  {
    name: "dex",
    description: "decentralized exchange: deposit, withdraw, place and cancel limit orders, swap",
    load: async () => (await import("../../localnet/chain/modules/dex/cli/tx.ts")).txDexCommand,
  },
  {
    name: "staking",
    description: "create and edit a validator, delegate, undelegate, redelegate",
    load: async () => (await import("../../localnet/chain/modules/staking/cli/tx.ts")).txStakingCommand,
  },
  {
    name: "slashing",
    description: "release a jailed validator",
    load: async () => (await import("../../localnet/chain/modules/slashing/cli/tx.ts")).txSlashingCommand,
  },
  {
    name: "wasm",
    description: "upload code; instantiate, call and migrate contracts",
    load: async () => (await import("../../localnet/chain/modules/wasm/cli/tx.ts")).txWasmCommand,
  },
  {
    name: "harpoon",
    description: "choose the hook types for which a contract is called",
    load: async () => (await import("../../localnet/chain/modules/harpoon/cli/tx.ts")).txHarpoonCommand,
  },
  {
    name: "transfer",
    description: "send coins to an account on another chain",
    load: async () => (await import("../../localnet/chain/modules/transfer/cli/tx.ts")).txTransferCommand,
  },
  {
    name: "ibc-transfer",
    description: "the same with ibc-go's arguments",
    load: async () => (await import("../../localnet/chain/modules/transfer/cli/tx.ts")).txIbcTransferCommand,
  },
  {
    name: "ibc",
    description: "update a light client, open and close channels",
    load: async () => (await import("../../localnet/chain/modules/ibc/cli/tx.ts")).txIbcCommand,
  },
  {
    name: "tokenfactory",
    description: "create denominations; mint and burn their coins",
    load: async () =>
      benchCommand((await import("../../workbench/modules/tokenfactory/cli/tx.ts")).txTokenFactoryCommand),
  },
  {
    name: "ibc-rate-limit",
    description: "choose the contract that limits transfers to other chains",
    load: async () =>
      (await import("../../localnet/chain/modules/ibc-rate-limit/cli/tx.ts")).txIbcRateLimitCommand,
  },
  {
    name: "feerefunder",
    description: "set the fees that contracts pay to the relayers of their packets",
    load: async () =>
      benchCommand((await import("../../workbench/modules/feerefunder/cli/tx.ts")).txFeeRefunderCommand),
  },
  {
    name: "upgrade",
    description: "plan an upgrade, or drop the plan",
    load: async () => (await import("../../localnet/chain/modules/upgrade/cli/tx.ts")).txUpgradeCommand,
  },
  {
    name: "gov",
    description: "governance of the remote chain: propose, deposit, vote",
    load: async () => (await import("../../localnet/chain/modules/gov/cli/tx.ts")).txGovCommand,
  },
];

/** `relaywatch tx`. */
export function txCommand(context: CliContext): Promise<Command> {
  return addLazyCommands(new Command(), MODULES, withGasReports(context, gasReports));
}
