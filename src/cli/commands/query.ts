import { Command } from "commander";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { withGasReports } from "../../localnet/cli/gas-reports.ts";
import type { moduleQueries } from "../../localnet/cli/query/modules.ts";
import type { benchQueries } from "../../workbench/cli/bench-queries.ts";
import { lazyGasReports } from "./lazy-gas-reports.ts";
import { addLazyCommands, type LazyCommands } from "../../platform/cli/lazy-command.ts";

/** One query group per chain module. */
const MODULES: LazyCommands = {
  interchainqueries: {
    aliases: ["icq"],
    description: "interchain queries: parameters, registered queries, results",
    load: rows("interchainqueries"),
  },
  dex: {
    description: "decentralized exchange: pools, limit orders, deposits, ticks",
    load: async () => (await import("../../localnet/cli/query/dex.ts")).queryDexCommand,
  },
  bank: { description: "balances, supply, denomination metadata", load: rows("bank") },
  auth: { description: "accounts: numbers and sequences, module accounts", load: rows("auth") },
  feemarket: { description: "gas price, and the market that sets it", load: rows("feemarket") },
  tx: {
    description: "print a transaction",
    load: async () => (await import("../../localnet/cli/node-query.ts")).queryTxCommand,
  },
  txs: {
    description: "search transactions by their events",
    load: async () => (await import("../../localnet/cli/node-query.ts")).queryTxsCommand,
  },
  block: {
    description: "print a block",
    load: async () => (await import("../../localnet/cli/node-query.ts")).queryBlockCommand,
  },
  staking: {
    description: "validators, delegations, undelegations, redelegations",
    load: async () => (await import("../../localnet/cli/query/staking.ts")).queryStakingCommand,
  },
  slashing: { description: "validators' missed blocks and jail times", load: rows("slashing") },
  wasm: {
    description: "codes and contracts: info, state, history, smart queries",
    load: async () => (await import("../../localnet/cli/query/wasm.ts")).queryWasmCommand,
  },
  harpoon: { description: "contracts called when stake changes", load: rows("harpoon") },
  ibc: {
    description: "light clients, connections, channels, packets",
    load: async () => (await import("../../localnet/cli/query/ibc.ts")).queryIbcCommand,
  },
  "ibc-transfer": {
    description: "vouchers for other chains' coins, escrowed coins",
    load: rows("ibc-transfer"),
  },
  contractmanager: {
    description: "failed contract calls that can be resubmitted",
    load: rows("contractmanager"),
  },
  tokenfactory: {
    description: "denominations that accounts created: admin, hook",
    load: bench("tokenfactory"),
  },
  "ibc-rate-limit": {
    description: "the contract that limits transfers to other chains",
    load: rows("ibc-rate-limit"),
  },
  feerefunder: {
    description: "fees that contracts pay to the relayers of their packets",
    load: bench("feerefunder"),
  },
  feeburner: { description: "burned fees, and the treasury", load: bench("feeburner") },
  globalfee: { description: "fees of a chain without a fee market", load: bench("globalfee") },
  dynamicfees: { description: "prices of other denominations", load: bench("dynamicfees") },
  interchaintxs: {
    description: "transactions on other chains by interchain accounts",
    load: bench("interchaintxs"),
  },
  "interchain-accounts": {
    description: "accounts that other chains control",
    load: bench("interchain-accounts"),
  },
  consensus: { description: "limits of blocks and evidence", load: rows("consensus") },
  adminmodule: {
    description: "admins of the chain's authority, and their proposals",
    load: rows("adminmodule"),
  },
  upgrade: { description: "planned and applied upgrades", load: rows("upgrade") },
  gov: { description: "governance of the remote chain: proposals, votes, deposits", load: rows("gov") },
};

export function queryCommand(context: CliContext): Promise<Command> {
  return addLazyCommands(new Command(), MODULES, withGasReports(context, lazyGasReports));
}

/** Loads the command for a module whose queries are all rows of one table. */
function rows(name: Parameters<typeof moduleQueries>[0]): LazyCommands[string]["load"] {
  return async () => (await import("../../localnet/cli/query/modules.ts")).moduleQueries(name);
}

/** Like {@link rows}, for a workbench module. */
function bench(name: Parameters<typeof benchQueries>[0]): LazyCommands[string]["load"] {
  return async () => (await import("../../workbench/cli/bench-queries.ts")).benchQueries(name);
}
