import { Command } from "commander";
import type { CliContext } from "../cli-context.ts";
import { txInterchainqueriesCommand } from "./tx-interchainqueries.ts";

/** `relaywatch tx`: sends transactions, one group of commands per module. */
export function txCommand(context: CliContext): Command {
  return new Command("tx")
    .description("send a transaction to a chain")
    .addCommand(txInterchainqueriesCommand(context));
}
