import { Command } from "commander";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { withGasReports } from "../../localnet/cli/gas-reports.ts";
import { benchCommand } from "../../workbench/cli/bench-command.ts";
import { gasReports } from "../../workbench/cli/gas-reports.ts";
import { addLazyCommands, type LazyCommand } from "../../platform/cli/lazy-command.ts";

/** One query group per chain module. */
const MODULES: readonly LazyCommand[] = [
  {
    name: "interchainqueries",
    aliases: ["icq"],
    description: "interchain queries: parameters, registered queries, results",
    load: async () =>
      (await import("../../localnet/chain/modules/interchainqueries/cli/query.ts"))
        .queryInterchainqueriesCommand,
  },
  {
    name: "dex",
    description: "decentralized exchange: pools, limit orders, deposits, ticks",
    load: async () => (await import("../../localnet/chain/modules/dex/cli/query.ts")).queryDexCommand,
  },
  {
    name: "bank",
    description: "balances, supply, what denominations are called",
    load: async () => (await import("../../localnet/chain/modules/bank/cli/query.ts")).queryBankCommand,
  },
  {
    name: "auth",
    description: "accounts: numbers and sequences, accounts of modules",
    load: async () => (await import("../../localnet/chain/modules/auth/cli/query.ts")).queryAuthCommand,
  },
  {
    name: "feemarket",
    description: "price of gas, and the market that makes it",
    load: async () =>
      (await import("../../localnet/chain/modules/feemarket/cli/query.ts")).queryFeeMarketCommand,
  },
  {
    name: "tx",
    description: "print a transaction",
    load: async () => (await import("../../localnet/cli/node-query.ts")).queryTxCommand,
  },
  {
    name: "txs",
    description: "search transactions by their events",
    load: async () => (await import("../../localnet/cli/node-query.ts")).queryTxsCommand,
  },
  {
    name: "block",
    description: "print a block",
    load: async () => (await import("../../localnet/cli/node-query.ts")).queryBlockCommand,
  },
  {
    name: "staking",
    description: "validators, delegations, undelegations, redelegations",
    load: async () => (await import("../../localnet/chain/modules/staking/cli/query.ts")).queryStakingCommand,
  },
  {
    name: "slashing",
    description: "validators' missed blocks and jail times",
    load: async () =>
      (await import("../../localnet/chain/modules/slashing/cli/query.ts")).querySlashingCommand,
  },
  {
    name: "wasm",
    description: "codes and contracts: infos, state, history, smart queries",
    load: async () => (await import("../../localnet/chain/modules/wasm/cli/query.ts")).queryWasmCommand,
  },
  {
    name: "harpoon",
    description: "contracts called when stake changes",
    load: async () => (await import("../../localnet/chain/modules/harpoon/cli/query.ts")).queryHarpoonCommand,
  },
  {
    name: "ibc",
    description: "light clients, connections, channels, packets",
    load: async () => (await import("../../localnet/chain/modules/ibc/cli/query.ts")).queryIbcCommand,
  },
  {
    name: "ibc-transfer",
    description: "vouchers for other chains' coins, escrowed coins",
    load: async () =>
      (await import("../../localnet/chain/modules/transfer/cli/query.ts")).queryIbcTransferCommand,
  },
  {
    name: "contractmanager",
    description: "failed contract calls that can be resubmitted",
    load: async () =>
      (await import("../../localnet/chain/modules/contractmanager/cli/query.ts")).queryContractManagerCommand,
  },
  {
    name: "tokenfactory",
    description: "denominations that accounts created: admin, hook",
    load: async () =>
      benchCommand(
        (await import("../../workbench/modules/tokenfactory/cli/query.ts")).queryTokenFactoryCommand,
      ),
  },
  {
    name: "ibc-rate-limit",
    description: "the contract that limits transfers to other chains",
    load: async () =>
      (await import("../../localnet/chain/modules/ibc-rate-limit/cli/query.ts")).queryIbcRateLimitCommand,
  },
  {
    name: "feerefunder",
    description: "fees that contracts pay to the relayers of their packets",
    load: async () =>
      benchCommand(
        (await import("../../workbench/modules/feerefunder/cli/query.ts")).queryFeeRefunderCommand,
      ),
  },
  {
    name: "feeburner",
    description: "fees that were burned, and the treasury",
    load: async () =>
      benchCommand((await import("../../workbench/modules/params-only/cli/query.ts")).queryFeeBurnerCommand),
  },
  {
    name: "globalfee",
    description: "fees of a chain without a fee market",
    load: async () =>
      benchCommand((await import("../../workbench/modules/params-only/cli/query.ts")).queryGlobalFeeCommand),
  },
  {
    name: "dynamicfees",
    description: "prices of other denominations",
    load: async () =>
      benchCommand(
        (await import("../../workbench/modules/params-only/cli/query.ts")).queryDynamicFeesCommand,
      ),
  },
  {
    name: "interchaintxs",
    description: "transactions on other chains by interchain accounts",
    load: async () =>
      benchCommand(
        (await import("../../workbench/modules/params-only/cli/query.ts")).queryInterchainTxsCommand,
      ),
  },
  {
    name: "interchain-accounts",
    description: "accounts that other chains control",
    load: async () =>
      benchCommand(
        (await import("../../workbench/modules/params-only/cli/query.ts")).queryInterchainAccountsCommand,
      ),
  },
  {
    name: "consensus",
    description: "limits of blocks and evidence",
    load: async () =>
      (await import("../../workbench/modules/params-only/cli/query.ts")).queryConsensusCommand,
  },
  {
    name: "adminmodule",
    description: "admins of the chain's authority, and their proposals",
    load: async () =>
      (await import("../../localnet/chain/modules/adminmodule/cli/query.ts")).queryAdminModuleCommand,
  },
  {
    name: "upgrade",
    description: "planned and done upgrades",
    load: async () => (await import("../../localnet/chain/modules/upgrade/cli/query.ts")).queryUpgradeCommand,
  },
  {
    name: "gov",
    description: "governance of the remote chain: proposals, votes, deposits",
    load: async () => (await import("../../localnet/chain/modules/gov/cli/query.ts")).queryGovCommand,
  },
];

/** `relaywatch query`. */
export function queryCommand(context: CliContext): Promise<Command> {
  return addLazyCommands(new Command(), MODULES, withGasReports(context, gasReports));
}
