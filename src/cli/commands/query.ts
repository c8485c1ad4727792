import { Command } from "commander";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { withGasReports } from "../../localnet/cli/gas-reports.ts";
import type { moduleQueries } from "../../localnet/cli/query/modules.ts";
import type { benchQueries } from "../../workbench/cli/bench-queries.ts";
import { lazyGasReports } from "./lazy-gas-reports.ts";
import { addLazyCommands, type LazyCommand } from "../../platform/cli/lazy-command.ts";

/** One query group per chain module. */
const MODULES: readonly LazyCommand[] = [
  {
    name: "interchainqueries",
    aliases: ["icq"],
    description: "interchain queries: parameters, registered queries, results",
    load: rows("interchainqueries"),
  },
  {
    name: "dex",
    description: "decentralized exchange: pools, limit orders, deposits, ticks",
    load: async () => (await import("../../localnet/cli/query/dex.ts")).queryDexCommand,
  },
  { name: "bank", description: "balances, supply, denomination metadata", load: rows("bank") },
  { name: "auth", description: "accounts: numbers and sequences, module accounts", load: rows("auth") },
  { name: "feemarket", description: "gas price, and the market that sets it", load: rows("feemarket") },
  {
    name: "tx",
    description: "print a transaction",
    load: async () => (await import("../../localnet/cli/query/modules.ts")).queryTxCommand,
  },
  {
    name: "txs",
    description: "search transactions by their events",
    load: async () => (await import("../../localnet/cli/query/modules.ts")).queryTxsCommand,
  },
  {
    name: "block",
    description: "print a block",
    load: async () => (await import("../../localnet/cli/query/modules.ts")).queryBlockCommand,
  },
  {
    name: "staking",
    description: "validators, delegations, undelegations, redelegations",
    load: async () => (await import("../../localnet/cli/query/staking.ts")).queryStakingCommand,
  },
  { name: "slashing", description: "validators' missed blocks and jail times", load: rows("slashing") },
  {
    name: "wasm",
    description: "codes and contracts: info, state, history, smart queries",
    load: async () => (await import("../../localnet/cli/query/wasm.ts")).queryWasmCommand,
  },
  { name: "harpoon", description: "contracts called when stake changes", load: rows("harpoon") },
  {
    name: "ibc",
    description: "light clients, connections, channels, packets",
    load: async () => (await import("../../localnet/cli/query/ibc.ts")).queryIbcCommand,
  },
  {
    name: "ibc-transfer",
    description: "vouchers for other chains' coins, escrowed coins",
    load: rows("ibc-transfer"),
  },
  {
    name: "contractmanager",
    description: "failed contract calls that can be resubmitted",
    load: rows("contractmanager"),
  },
  {
    name: "tokenfactory",
    description: "denominations that accounts created: admin, hook",
    load: bench("tokenfactory"),
  },
  {
    name: "ibc-rate-limit",
    description: "the contract that limits transfers to other chains",
    load: rows("ibc-rate-limit"),
  },
  {
    name: "feerefunder",
    description: "fees that contracts pay to the relayers of their packets",
    load: bench("feerefunder"),
  },
  { name: "feeburner", description: "burned fees, and the treasury", load: bench("feeburner") },
  { name: "globalfee", description: "fees of a chain without a fee market", load: bench("globalfee") },
  { name: "dynamicfees", description: "prices of other denominations", load: bench("dynamicfees") },
  {
    name: "interchaintxs",
    description: "transactions on other chains by interchain accounts",
    load: bench("interchaintxs"),
  },
  {
    name: "interchain-accounts",
    description: "accounts that other chains control",
    load: bench("interchain-accounts"),
  },
  { name: "consensus", description: "limits of blocks and evidence", load: rows("consensus") },
  {
    name: "adminmodule",
    description: "admins of the chain's authority, and their proposals",
    load: rows("adminmodule"),
  },
  { name: "upgrade", description: "planned and applied upgrades", load: rows("upgrade") },
  {
    name: "gov",
    description: "governance of the remote chain: proposals, votes, deposits",
    load: rows("gov"),
  },
];

export function queryCommand(context: CliContext): Promise<Command> {
  return addLazyCommands(new Command(), MODULES, withGasReports(context, lazyGasReports));
}

/** Loads the command for a module whose queries are all rows of one table. */
function rows(name: Parameters<typeof moduleQueries>[0]): LazyCommand["load"] {
  return async () => (await import("../../localnet/cli/query/modules.ts")).moduleQueries(name);
}

/** Like {@link rows}, for a workbench module. */
function bench(name: Parameters<typeof benchQueries>[0]): LazyCommand["load"] {
  return async () => (await import("../../workbench/cli/bench-queries.ts")).benchQueries(name);
}
