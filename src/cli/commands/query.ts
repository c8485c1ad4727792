import { Command } from "commander";
import type { CliContext } from "../cli-context.ts";
import { addLazyCommands, type LazyCommand } from "../lazy-command.ts";

/** One group of queries per chain module. */
const MODULES: readonly LazyCommand[] = [
  {
    name: "interchainqueries",
    aliases: ["icq"],
    description: "interchain queries: parameters, registered queries, results",
    load: async () => (await import("./query-interchainqueries.ts")).queryInterchainqueriesCommand,
  },
  {
    name: "dex",
    description: "decentralized exchange: pools, limit orders, deposits, ticks",
    load: async () => (await import("./query-dex.ts")).queryDexCommand,
  },
  {
    name: "staking",
    description: "validators, delegations, undelegations, redelegations",
    load: async () => (await import("./query-staking.ts")).queryStakingCommand,
  },
  {
    name: "slashing",
    description: "missed blocks and jail times of validators",
    load: async () => (await import("./query-slashing.ts")).querySlashingCommand,
  },
  {
    name: "harpoon",
    description: "contracts that are called when stake changes",
    load: async () => (await import("./query-harpoon.ts")).queryHarpoonCommand,
  },
  {
    name: "ibc",
    description: "light clients, connections, channels, packets",
    load: async () => (await import("./query-ibc.ts")).queryIbcCommand,
  },
  {
    name: "ibc-transfer",
    description: "vouchers of other chains' coins, coins in escrow",
    load: async () => (await import("./query-ibc-transfer.ts")).queryIbcTransferCommand,
  },
  {
    name: "contractmanager",
    description: "calls of contracts that failed and can be asked for again",
    load: async () => (await import("./query-contractmanager.ts")).queryContractManagerCommand,
  },
  {
    name: "ibc-rate-limit",
    description: "the contract that limits transfers to other chains",
    load: async () => (await import("./query-ibc-rate-limit.ts")).queryIbcRateLimitCommand,
  },
];

/** `relaywatch query`. */
export function queryCommand(context: CliContext): Promise<Command> {
  return addLazyCommands(new Command(), MODULES, context);
}
