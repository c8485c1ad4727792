import type { ChainClient } from "../../cosmos/client/chain-client.ts";
import { readDisplayUnit } from "../../cosmos/client/denom-metadata.ts";
import { ClientError } from "../../cosmos/client-error.ts";
import { messageFromJson, messageToJson } from "../../cosmos/proto/json.ts";
import { toChainTypeUrl } from "../../cosmos/proto/registry.ts";
import { parseDec18 } from "../../platform/base/decimal.ts";
import { type DisplayUnit, formatUnits } from "../../platform/base/display-unit.ts";
import type { JsonObject, JsonValue } from "../../platform/base/json.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { cellText, fieldAt } from "../../platform/cli/table.ts";
import { profileNamed } from "../chain/deviations/profile-named.ts";
import { type AnswerTable, formatAnswer } from "./answer-table.ts";
import { withChain } from "./chain-connection.ts";
import type { ConnectionOptions } from "./connection-options.ts";

export interface QueryOptions extends ConnectionOptions {
  /** Height of the state to read, or 0 for the latest state. */
  readonly height: bigint;
}

/** A query to send, with the canonical chain name in its path and types. */
interface OutgoingQuery {
  /** gRPC path, such as `/neutron.interchainqueries.Query/Params`. */
  readonly path: string;
  readonly requestType: string;
  readonly responseType: string;
  /** The query's request, as proto JSON. */
  readonly request: JsonObject;
  /** Table layout for human-readable output, or undefined to print YAML. */
  readonly table: AnswerTable | undefined;
}

/** Sends a query to the chain and prints the response as a table or, depending on the options, as YAML or the REST API's JSON. */
export async function runQuery(
  query: OutgoingQuery,
  options: QueryOptions,
  context: CliContext,
): Promise<void> {
  const table = options.json || options.output === "yaml" ? undefined : query.table;
  const [response, units] = await withChain(options, context, async (client) => {
    const read = await fetchResponse(client, query, options, context.signal);
    return [read, await readUnits(client, unitNames(table, read), context.signal)] as const;
  });
  if (table !== undefined) return context.print(formatAnswer(withDisplayUnits(table, units), response));
  // Import the printer only when it is needed, because it loads the YAML library.
  const { printResponse } = await import("../../platform/cli/print-response.ts");
  printResponse(response, options, context);
}

async function fetchResponse(
  client: ChainClient,
  { path, requestType, responseType, request }: OutgoingQuery,
  { chainName, height }: QueryOptions,
  signal: AbortSignal,
): Promise<JsonValue> {
  const encoded = messageFromJson(requestType, request);
  const response = await client.grpcQuery(toChainTypeUrl(path, chainName), encoded, signal, height);
  // The deployed chain and local chains with its profile number the fields of some messages differently than the specification.
  const { proto } = profileNamed("deployed");
  const isDeployed = proto?.recognizes(responseType, response) === true;
  return messageToJson(responseType, isDeployed ? proto.decode(responseType, response) : response, chainName);
}

/** Maximum number of denominations per table for which the command reads metadata to show display units. */
const MAX_UNITS = 100;

function unitNames(table: AnswerTable | undefined, response: JsonValue): readonly string[] {
  const coin = table?.coin;
  if (table === undefined || coin === undefined) return [];
  const found = fieldAt(response, table.path);
  const denoms = (Array.isArray(found) ? found : [found]).map((record) => fieldAt(record, coin.denom));
  const names = [...new Set(denoms.flatMap((denom) => (typeof denom === "string" ? [denom] : [])))];
  return names.slice(0, MAX_UNITS);
}

/** Adds a column that shows coins in display units, unless the chain's metadata defines no display units for these coins. */
function withDisplayUnits(table: AnswerTable, units: ReadonlyMap<string, DisplayUnit>): AnswerTable {
  const { coin, columns } = table;
  if (coin === undefined || units.size === 0) return table;
  const cell = (record: JsonValue): string => {
    const unit = units.get(cellText(fieldAt(record, coin.denom)));
    return unit === undefined ? "-" : displayText(cellText(fieldAt(record, coin.amount)), unit);
  };
  return { ...table, columns: [...columns, { title: "DISPLAY", cell }] };
}

/** Formats an integer amount or a decimal price, given in the base unit. */
function displayText(amount: string, unit: DisplayUnit): string {
  if (/^\d{1,78}$/.test(amount)) return formatUnits(BigInt(amount), unit);
  if (!/^\d{1,60}\.\d{1,18}$/.test(amount)) return "-";
  return formatUnits(parseDec18(amount), { name: unit.name, exponent: unit.exponent + DEC18_PLACES });
}

/** Number of fractional digits in a `Dec18`. */
const DEC18_PLACES = 18;

/** Reads display units from the chain's metadata. Skips a denomination on an error, because the table is complete without units. */
async function readUnits(
  client: ChainClient,
  denoms: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, DisplayUnit>> {
  const units = await Promise.all(
    denoms.map((denom) =>
      readDisplayUnit(client, denom, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        if (error instanceof ClientError) return undefined;
        throw error;
      }),
    ),
  );
  return new Map(units.flatMap((unit) => (unit === undefined ? [] : [[unit.denom, unit] as const])));
}
