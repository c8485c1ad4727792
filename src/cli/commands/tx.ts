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
];

/** `relaywatch tx`. */
export function txCommand(context: CliContext): Promise<Command> {
  return addLazyCommands(new Command(), MODULES, context);
}
