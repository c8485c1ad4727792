import { Command, Option } from "commander";
import type { JsonValue } from "../../platform/base/json.ts";
import { messageToJson } from "../../cosmos/proto/json.ts";
import { toChainTypeUrl } from "../../cosmos/proto/type-urls.ts";
import { addConnectionOptions, type ConnectionOptions, withChain } from "./chain-connection.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { parseUint64 } from "../../platform/cli/options.ts";
import { printAnswer } from "../../platform/cli/print-answer.ts";

/** Options of every query command. */
export interface QueryOptions extends ConnectionOptions {
  /** State height to read; 0 for the latest. */
  readonly height: bigint;
}

/** A chain module's gRPC query. */
export interface ModuleQuery {
  /** gRPC path: `/neutron.interchainqueries.Query/Params`. */
  readonly path: string;
  /** Encoded request message. */
  readonly request: Uint8Array;
  /** Response type name: `neutron.interchainqueries.QueryParamsResponse`. */
  readonly responseType: string;
}

/** Creates a command with the options of {@link QueryOptions}. */
export function moduleQueryCommand(name: string, description: string): Command {
  return addConnectionOptions(new Command(name).description(description)).addOption(
    new Option("--height <n>", "state height to read").default(0n, "latest").argParser(parseUint64),
  );
}

/** Sends a query to the chain and prints the response. `path` and `responseType` use the canonical chain name. */
export async function queryModule(
  query: ModuleQuery,
  options: QueryOptions,
  context: CliContext,
): Promise<void> {
  printAnswer(await fetchModule(query, options, context), options, context);
}

/** Sends a query to the chain and returns the response as REST API JSON. */
export async function fetchModule(
  query: ModuleQuery,
  options: QueryOptions,
  context: CliContext,
): Promise<JsonValue> {
  const { chainName, height } = options;
  const path = toChainTypeUrl(query.path, chainName);
  const response = await withChain(options, context, (client) =>
    client.grpcQuery(path, query.request, context.signal, height),
  );
  return messageToJson(query.responseType, response, chainName);
}
