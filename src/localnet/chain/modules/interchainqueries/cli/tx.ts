import { Command } from "commander";
import { EXIT } from "../../../../../platform/base/errors.ts";
import { readTextFile } from "../../../../../platform/base/read-text.ts";
import {
  MsgRemoveInterchainQueryRequest,
  MsgSubmitQueryResult,
  QueryResult,
} from "../../../../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { messageFromJson } from "../../../../../cosmos/proto/json.ts";
import { toChainTypeUrl, TYPE_URL } from "../../../../../cosmos/proto/registry.ts";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { CliError } from "../../../../../platform/cli/cli-error.ts";
import { queryIdArgument } from "../../../../../platform/cli/options.ts";
import { txMessageCommand } from "../../../../cli/module-tx.ts";
import { sendMessage } from "../../../../cli/send-message.ts";
import type { TxOptions } from "../../../../cli/tx-options.ts";

/** `relaywatch tx interchainqueries`, for tests and manual repairs (chain-extension-modules.md, "Interchain queries module: queries"). */
export function txInterchainqueriesCommand(context: CliContext): Command {
  return new Command().addCommand(submitCommand(context)).addCommand(removeCommand(context));
}

function submitCommand(context: CliContext): Command {
  return txMessageCommand("submit-query-result", "submit the result of a query")
    .aliases(["submit", "s"])
    .addArgument(queryIdArgument())
    .argument("<result-file>", "QueryResult in proto JSON, with its proofs")
    .action((queryId: bigint, file: string, options: TxOptions) => {
      const result = readResult(file, options.chainName);
      return sendMessage(
        {
          typeUrl: toChainTypeUrl(TYPE_URL.submitQueryResult, options.chainName),
          encode: (sender) => MsgSubmitQueryResult.encode({ queryId, sender, clientId: "", result }).finish(),
        },
        options,
        context,
      );
    });
}

function removeCommand(context: CliContext): Command {
  return txMessageCommand("remove-interchain-query", "remove a query; its deposit goes to the sender")
    .aliases(["remove", "r"])
    .addArgument(queryIdArgument())
    .action((queryId: bigint, options: TxOptions) =>
      sendMessage(
        {
          typeUrl: toChainTypeUrl(TYPE_URL.removeInterchainQuery, options.chainName),
          encode: (sender) => MsgRemoveInterchainQueryRequest.encode({ queryId, sender }).finish(),
        },
        options,
        context,
      ),
    );
}

/** Upper bound against a wrong file; no chain accepts a transaction of this size. */
const MAX_RESULT_FILE_BYTES = 64 * 1024 * 1024;

function readResult(file: string, chainName: string): QueryResult {
  const json = readJson(file);
  try {
    return QueryResult.decode(messageFromJson("neutron.interchainqueries.QueryResult", json, chainName));
  } catch (cause) {
    throw unusable(file, cause);
  }
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
