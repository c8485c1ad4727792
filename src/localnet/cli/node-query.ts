import { Argument, type Command, Option } from "commander";
import { parseUint64 } from "../../platform/cli/options.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { column } from "../../platform/cli/table.ts";
import { type AnswerTable, queryCommand } from "./module-query.ts";

const TX_SERVICE = { service: "cosmos.tx.v1beta1.Service", arguments: { hash: hashArgument } };

const RESPONSE_COLUMNS = [
  column("HEIGHT", "height"),
  column("HASH", "txhash"),
  column("CODE", "code"),
  column("GAS USED", "gas_used"),
  column("GAS LIMIT", "gas_wanted"),
  column("TIME", "timestamp"),
];

const TX_TABLES = {
  GetTxsEvent: { path: "tx_responses", columns: RESPONSE_COLUMNS },
} as const satisfies Readonly<Record<string, AnswerTable>>;

const SEARCH = {
  query: () =>
    new Option(
      "--query <query>",
      "conditions on events: \"message.sender='neutron1…' AND tx.height>5\"",
    ).makeOptionMandatory(),
  limit: () => new Option("--limit <n>", "maximum number of transactions").default("100"),
  page: () => new Option("--page <n>", "page number, from 1").default("1"),
};

/** `relaywatch query tx`: the transaction and its result, as YAML or JSON. */
export function queryTxCommand(context: CliContext): Command {
  return queryCommand(
    TX_SERVICE,
    { name: "tx", rpc: "GetTx", description: "print a transaction", arguments: ["hash"] },
    context,
  );
}

/** `relaywatch query txs`. */
export function queryTxsCommand(context: CliContext): Command {
  return queryCommand(
    { service: TX_SERVICE.service, arguments: {}, tables: TX_TABLES },
    {
      name: "txs",
      rpc: "GetTxsEvent",
      description: "search transactions by their events",
      options: SEARCH,
    },
    context,
  );
}

/** `relaywatch query block`. */
export function queryBlockCommand(context: CliContext): Command {
  return queryCommand(
    {
      service: "cosmos.base.tendermint.v1beta1.Service",
      arguments: { height: () => new Argument("<height>", "height of the block").argParser(parseUint64) },
    },
    { name: "block", rpc: "GetBlockByHeight", description: "print a block", arguments: ["height"] },
    context,
  );
}

function hashArgument(): Argument {
  return new Argument("<hash>", "hash of the transaction, hex");
}
