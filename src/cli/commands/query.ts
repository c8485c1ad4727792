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
];

/** `relaywatch query`. */
export function queryCommand(context: CliContext): Promise<Command> {
  return addLazyCommands(new Command(), MODULES, context);
}
