import { Option } from "commander";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { type QueryGroup, query, queryCommand } from "./module-query.ts";

const TXS: QueryGroup = {
  service: "cosmos.tx.v1beta1.Service",
  fields: { hash: "<hash> hash of the transaction, hex" },
  queries: {
    tx: query("GetTx", "print a transaction"),
    txs: query("GetTxsEvent", "search transactions by their events", {
      path: "tx_responses",
      columns: `HEIGHT height, HASH txhash, CODE code, GAS USED gas_used, GAS LIMIT gas_wanted,
          TIME timestamp`,
      isShort: true,
      takes: [],
      options: {
        query: () =>
          new Option(
            "--query <query>",
            "conditions on events: \"message.sender='neutron1…' AND tx.height>5\"",
          ).makeOptionMandatory(),
        limit: () => new Option("--limit <n>", "maximum number of transactions").default("100"),
        page: () => new Option("--page <n>", "page number, from 1").default("1"),
      },
    }),
  },
};

const BLOCKS: QueryGroup = {
  service: "cosmos.base.tendermint.v1beta1.Service",
  fields: { height: "<height> height of the block" },
  queries: { block: query("GetBlockByHeight", "print a block") },
};

/** Returns a function that creates the command for one query. */
function command(group: QueryGroup, name: string) {
  return (context: CliContext) => queryCommand(group, name, context);
}

/** `relaywatch query tx`: prints the transaction and its result as YAML or JSON. */
export const queryTxCommand = command(TXS, "tx");

/** `relaywatch query txs`. */
export const queryTxsCommand = command(TXS, "txs");

/** `relaywatch query block`. */
export const queryBlockCommand = command(BLOCKS, "block");
