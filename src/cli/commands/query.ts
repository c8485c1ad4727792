import { Command } from "commander";
import type { CliContext } from "../cli-context.ts";
import { queryInterchainqueriesCommand } from "./query-interchainqueries.ts";

/** `relaywatch query`: reads a chain's state, one group of commands per module. */
export function queryCommand(context: CliContext): Command {
  return new Command("query")
    .alias("q")
    .description("read the state of a chain")
    .addCommand(queryInterchainqueriesCommand(context));
}
