import { Command } from "commander";
import { type GasReports, withGasReports } from "../../localnet/cli/gas-reports.ts";
import type { moduleQueries } from "../../localnet/cli/query/modules.ts";
import type { moduleMessages } from "../../localnet/cli/tx/modules.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { addLazyCommands, type LazyCommands } from "../../platform/cli/lazy-command.ts";
import type { benchMessages, benchQueries } from "../../workbench/cli/bench-queries.ts";

/** Groups of query commands, one per chain module. */
const QUERIES: LazyCommands = {
  interchainqueries: {
    aliases: ["icq"],
    description: "interchain queries: parameters, registered queries, results",
    load: queries("interchainqueries"),
  },
  dex: {
    description: "decentralized exchange: pools, limit orders, deposits, ticks",
    load: async () => (await import("../../localnet/cli/query/dex.ts")).queryDexCommand,
  },
  bank: { description: "balances, supply, denomination metadata", load: queries("bank") },
  auth: { description: "accounts: numbers and sequences, module accounts", load: queries("auth") },
  feemarket: { description: "gas price and fee market", load: queries("feemarket") },
  tx: {
    description: "print a transaction",
    load: async () => (await import("../../localnet/cli/query/modules.ts")).queryTxCommand,
  },
  txs: {
    description: "search transactions by their events",
    load: async () => (await import("../../localnet/cli/query/modules.ts")).queryTxsCommand,
  },
  block: {
    description: "print a block",
    load: async () => (await import("../../localnet/cli/query/modules.ts")).queryBlockCommand,
  },
  staking: {
    description: "validators, delegations, undelegations, redelegations",
    load: async () => (await import("../../localnet/cli/query/staking.ts")).queryStakingCommand,
  },
  slashing: { description: "validators' missed blocks and jail times", load: queries("slashing") },
  wasm: {
    description: "codes and contracts: info, state, history, smart queries",
    load: async () => (await import("../../localnet/cli/query/wasm.ts")).queryWasmCommand,
  },
  harpoon: { description: "contracts that subscribe to staking hooks", load: queries("harpoon") },
  ibc: {
    description: "light clients, connections, channels, packets",
    load: async () => (await import("../../localnet/cli/query/ibc.ts")).queryIbcCommand,
  },
  "ibc-transfer": {
    description: "vouchers for other chains' coins, escrowed coins",
    load: queries("ibc-transfer"),
  },
  contractmanager: {
    description: "failed contract calls that can be resubmitted",
    load: queries("contractmanager"),
  },
  tokenfactory: {
    description: "denominations created by accounts: admin, hook",
    load: benchQueriesOf("tokenfactory"),
  },
  "ibc-rate-limit": {
    description: "the contract that limits transfers to other chains",
    load: queries("ibc-rate-limit"),
  },
  feerefunder: {
    description: "fees that contracts pay to the relayers of their packets",
    load: benchQueriesOf("feerefunder"),
  },
  feeburner: { description: "burned fees, and the treasury", load: benchQueriesOf("feeburner") },
  globalfee: { description: "fees on a chain without a fee market", load: benchQueriesOf("globalfee") },
  dynamicfees: { description: "prices of other denominations", load: benchQueriesOf("dynamicfees") },
  interchaintxs: {
    description: "interchain accounts' transactions on other chains",
    load: benchQueriesOf("interchaintxs"),
  },
  "interchain-accounts": {
    description: "accounts controlled by other chains",
    load: benchQueriesOf("interchain-accounts"),
  },
  consensus: { description: "block and evidence limits", load: queries("consensus") },
  adminmodule: {
    description: "the chain authority's admins, and their proposals",
    load: queries("adminmodule"),
  },
  upgrade: { description: "planned and applied upgrades", load: queries("upgrade") },
  gov: { description: "governance of the remote chain: proposals, votes, deposits", load: queries("gov") },
};

export function queryCommand(context: CliContext): Promise<Command> {
  return addLazyCommands(new Command(), QUERIES, withGasReports(context, GAS_REPORTS));
}

type Load = LazyCommands[string]["load"];

/** Loads the query commands of a module whose queries are all defined in one table. */
function queries(name: Parameters<typeof moduleQueries>[0]): Load {
  return async () => (await import("../../localnet/cli/query/modules.ts")).moduleQueries(name);
}

/** Loads a workbench module's query commands, like {@link queries}. */
function benchQueriesOf(name: Parameters<typeof benchQueries>[0]): Load {
  return async () => (await import("../../workbench/cli/bench-queries.ts")).benchQueries(name);
}

/** Groups of transaction commands, one per chain module. */
const MESSAGES: LazyCommands = {
  bank: { description: "send coins", load: messages("bank") },
  interchainqueries: {
    aliases: ["icq"],
    description: "interchain queries: submit a result, remove a query",
    load: messages("interchainqueries"),
  },
  dex: {
    description: "decentralized exchange: deposit, withdraw, place and cancel limit orders, swap",
    load: async () => (await import("../../localnet/cli/tx/dex.ts")).txDexCommand,
  },
  staking: {
    description: "create and edit a validator, delegate, undelegate, redelegate",
    load: async () => (await import("../../localnet/cli/tx/staking.ts")).txStakingCommand,
  },
  slashing: { description: "release a jailed validator", load: messages("slashing") },
  wasm: {
    description: "upload code; instantiate, call and migrate contracts",
    load: async () => (await import("../../localnet/cli/tx/wasm.ts")).txWasmCommand,
  },
  harpoon: { description: "choose the hook types for which a contract is called", load: messages("harpoon") },
  transfer: {
    description: "send coins to an account on another chain",
    load: async () => (await import("../../localnet/cli/tx/ibc.ts")).txTransferCommand,
  },
  "ibc-transfer": {
    description: "like tx transfer, but with ibc-go's arguments",
    load: async () => (await import("../../localnet/cli/tx/ibc.ts")).txIbcTransferCommand,
  },
  ibc: {
    description: "update a light client, open and close channels",
    load: async () => (await import("../../localnet/cli/tx/ibc.ts")).txIbcCommand,
  },
  tokenfactory: {
    description: "create denominations; mint and burn their coins",
    load: benchMessagesOf("tokenfactory"),
  },
  "ibc-rate-limit": {
    description: "choose the contract that limits transfers to other chains",
    load: messages("ibc-rate-limit"),
  },
  feerefunder: {
    description: "set the fees that contracts pay to the relayers of their packets",
    load: benchMessagesOf("feerefunder"),
  },
  vesting: {
    description: "create accounts whose coins vest",
    load: async () => (await import("../../localnet/cli/tx/modules.ts")).txVestingCommand,
  },
  upgrade: { description: "plan an upgrade, or cancel the plan", load: messages("upgrade") },
  gov: {
    description: "governance of the remote chain: propose, deposit, vote",
    load: async () => (await import("../../localnet/cli/tx/modules.ts")).txGovCommand,
  },
};

export function txCommand(context: CliContext): Promise<Command> {
  return addLazyCommands(new Command(), MESSAGES, withGasReports(context, GAS_REPORTS));
}

/** Loads the transaction commands of a module whose messages are all defined in one table. */
function messages(name: Parameters<typeof moduleMessages>[0]): Load {
  return async () => (await import("../../localnet/cli/tx/modules.ts")).moduleMessages(name);
}

/** Loads a workbench module's transaction commands, like {@link messages}. */
function benchMessagesOf(name: Parameters<typeof benchMessages>[0]): Load {
  return async () => (await import("../../workbench/cli/bench-queries.ts")).benchMessages(name);
}

/** The workbench's gas reports, loaded on first use. */
const GAS_REPORTS: GasReports = {
  save: async (...request) => (await loadGasReports()).save(...request),
  stacks: async (...request) => (await loadGasReports()).stacks(...request),
};

async function loadGasReports(): Promise<GasReports> {
  return (await import("../../workbench/cli/gas-reports.ts")).gasReports;
}
