import { Command } from "commander";
import type { CliContext } from "../cli-context.ts";
import { addLazyCommands, type LazyCommand } from "../lazy-command.ts";

/** One group of transactions per chain module. */
const MODULES: readonly LazyCommand[] = [
  {
    name: "interchainqueries",
    aliases: ["icq"],
    description: "interchain queries: submit a result, remove a query",
    load: async () => (await import("./tx-interchainqueries.ts")).txInterchainqueriesCommand,
  },
  {
    name: "dex",
    description: "decentralized exchange: deposit, withdraw, place and cancel limit orders, swap",
    load: async () => (await import("./tx-dex.ts")).txDexCommand,
  },
  {
    name: "staking",
    description: "create and edit a validator, delegate, undelegate, redelegate",
    load: async () => (await import("./tx-staking.ts")).txStakingCommand,
  },
  {
    name: "slashing",
    description: "release a jailed validator",
    load: async () => (await import("./tx-slashing.ts")).txSlashingCommand,
  },
  {
    name: "harpoon",
    description: "choose the hook types for which a contract is called",
    load: async () => (await import("./tx-harpoon.ts")).txHarpoonCommand,
  },
  {
    name: "transfer",
    description: "send coins to an account of another chain",
    load: async () => (await import("./tx-ibc-transfer.ts")).txTransferCommand,
  },
  {
    name: "ibc-transfer",
    description: "the same with the arguments of ibc-go",
    load: async () => (await import("./tx-ibc-transfer.ts")).txIbcTransferCommand,
  },
  {
    name: "ibc",
    description: "update a light client, open and close channels",
    load: async () => (await import("./tx-ibc.ts")).txIbcCommand,
  },
  {
    name: "ibc-rate-limit",
    description: "choose the contract that limits transfers to other chains",
    load: async () => (await import("./tx-ibc-rate-limit.ts")).txIbcRateLimitCommand,
  },
];

/** `relaywatch tx`. */
export function txCommand(context: CliContext): Promise<Command> {
  return addLazyCommands(new Command(), MODULES, context);
}
