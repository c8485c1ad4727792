import { EXIT } from "../../../../../platform/base/errors.ts";
import type { JsonObject } from "../../../../../platform/base/json.ts";
import { readTextFile } from "../../../../../platform/base/read-text.ts";
import { messageFromJson } from "../../../../../cosmos/proto/json.ts";
import { CliError } from "../../../../../platform/cli/cli-error.ts";
import { queryIdArgument } from "../../../../../platform/cli/options.ts";
import { isJsonObject, textOf, unchecked } from "../../../../cli/command-inputs.ts";
import { message, messageCommands } from "../../../../cli/module-tx.ts";

/** `relaywatch tx interchainqueries`, for tests and manual repairs (chain-extension-modules.md, "Interchain queries module: queries"). */
export const txInterchainqueriesCommand = messageCommands({
  service: "neutron.interchainqueries.Msg",
  fields: {
    query_id: queryIdArgument,
    result: ["<result-file> QueryResult in proto JSON, with its proofs", unchecked],
  },
  messages: {
    "submit-query-result|submit|s": message("SubmitQueryResult", "submit the result of a query", {
      takes: ["query_id", "result"],
      complete: ({ query_id, result }, { chainName }) => ({
        query_id,
        result: readResult(textOf(result), chainName),
      }),
    }),
    "remove-interchain-query|remove|r": message(
      "RemoveInterchainQuery",
      "remove a query; its deposit goes to the sender",
    ),
  },
});

/** Upper bound against a wrong file; no chain accepts a transaction of this size. */
const MAX_RESULT_FILE_BYTES = 64 * 1024 * 1024;

function readResult(file: string, chainName: string): JsonObject {
  const json = readJson(file);
  try {
    messageFromJson("neutron.interchainqueries.QueryResult", json, chainName);
  } catch (cause) {
    throw unusable(file, cause);
  }
  if (isJsonObject(json)) return json;
  throw unusable(file, undefined);
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readTextFile(file, MAX_RESULT_FILE_BYTES));
  } catch (cause) {
    if (cause instanceof SyntaxError) throw unusable(file, cause);
    throw new CliError(EXIT.fatal, `failed to read query result file: ${file}`, { cause });
  }
}

function unusable(file: string, cause: unknown): CliError {
  return new CliError(EXIT.fatal, `failed to unmarshal query result: ${file}`, { cause });
}
