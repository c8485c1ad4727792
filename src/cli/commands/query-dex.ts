import { Argument, Command, Option } from "commander";
import { toBase64 } from "../../base/bytes.ts";
import { unreachable } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { messageFromJson } from "../../proto/json.ts";
import { findService } from "../../proto/registry.ts";
import type { CliContext } from "../cli-context.ts";
import { parseFee, parseTick } from "../dex-arguments.ts";
import { DEX_TABLES, type DexTable, formatDexTable } from "../dex-tables.ts";
import { fetchModule, moduleQueryCommand, type QueryOptions } from "../module-query.ts";
import { addPageOptions, type PageOptions, toPageRequest } from "../page-request.ts";
import { printAnswer } from "../print-answer.ts";

/** An argument: the name of a field of the request. */
type ArgumentName = keyof typeof ARGUMENTS;

interface DexQuery {
  readonly name: string;
  /** Name that the deployed command line has. */
  readonly alias?: string;
  readonly description: string;
  readonly rpc: keyof typeof DEX_TABLES;
  readonly arguments?: readonly ArgumentName[];
  /** An option, and the field of the request that it sets to true. */
  readonly flag?: { readonly option: string; readonly field: string; readonly description: string };
  readonly isList?: boolean;
}

/** `relaywatch query dex` (dex.md, "CLI"). */
export function queryDexCommand(context: CliContext): Command {
  const group = new Command();
  for (const query of QUERIES) group.addCommand(dexQueryCommand(query, context));
  return group;
}

function dexQueryCommand(query: DexQuery, context: CliContext): Command {
  const names = query.arguments ?? [];
  const command = moduleQueryCommand(query.name, query.description);
  if (query.alias !== undefined) command.alias(query.alias);
  for (const name of names) command.addArgument(ARGUMENTS[name]());
  if (query.flag !== undefined) command.option(query.flag.option, query.flag.description);
  if (query.isList) addPageOptions(command);
  return command.action((...words: readonly unknown[]) => {
    const fields = Object.fromEntries(names.map((name, index) => [name, String(words[index])]));
    const request = { ...fields, ...flagField(query, command), ...pageField(query, command) };
    return run(query, request, { options: command.opts<QueryOptions>(), context });
  });
}

function flagField({ flag }: DexQuery, command: Command): JsonObject {
  if (flag === undefined) return {};
  const name = new Option(flag.option).attributeName();
  return { [flag.field]: command.getOptionValue(name) === true };
}

function pageField({ isList }: DexQuery, command: Command): JsonObject {
  if (!isList) return {};
  const { key, offset, limit, countTotal, reverse } = toPageRequest(command.opts<PageOptions>());
  return {
    pagination: {
      key: toBase64(key),
      offset: offset.toString(),
      limit: limit.toString(),
      count_total: countTotal,
      reverse,
    },
  };
}

async function run(
  { rpc }: DexQuery,
  request: JsonObject,
  { options, context }: { readonly options: QueryOptions; readonly context: CliContext },
): Promise<void> {
  const method =
    findService("neutron.dex.Query")?.methods.find(({ name }) => name === rpc) ??
    unreachable(`no query ${rpc}`);
  const { path, requestType, responseType } = method;
  const encoded = messageFromJson(requestType, request);
  const response = await fetchModule({ path, request: encoded, responseType }, options, context);
  const table: DexTable = DEX_TABLES[rpc];
  if (options.json) printAnswer(response, options, context);
  else context.print(formatDexTable(table, response));
}

const ARGUMENTS = {
  pair_id: () => new Argument("<pair-id>", "'A<>B'"),
  token_in: () => new Argument("<token-in>", "maker denomination: the one that the side sells"),
  tick_index: () => new Argument("<tick-index>", "[-5] for -5").argParser(parseTick),
  fee: () => new Argument("<fee>", "basis points").argParser(parseFee),
  tranche_key: () => new Argument("<tranche-key>", "key of a tranche"),
  address: () => new Argument("<address>", "bech32 address"),
  pool_id: () => new Argument("<pool-id>", "id of a pool").argParser(parseFee),
  id: () => new Argument("<id>", "id of a pool").argParser(parseFee),
};

const TRANCHE_ARGUMENTS = ["pair_id", "token_in", "tick_index", "tranche_key"] as const;

const QUERIES: readonly DexQuery[] = [
  { name: "params", rpc: "Params", description: "print the module's parameters" },
  {
    name: "show-pool",
    rpc: "Pool",
    description: "print a pool by its centre and fee",
    arguments: ["pair_id", "tick_index", "fee"],
  },
  { name: "show-pool-by-id", rpc: "PoolByID", description: "print a pool", arguments: ["pool_id"] },
  {
    name: "list-pool-reserves",
    rpc: "PoolReservesAll",
    description: "list the reserves of all pools on one side of a pair",
    arguments: ["pair_id", "token_in"],
    isList: true,
  },
  {
    name: "show-pool-reserves",
    rpc: "PoolReserves",
    description: "print one side of a pool",
    arguments: ["pair_id", "tick_index", "token_in", "fee"],
  },
  {
    name: "list-user-limit-orders",
    rpc: "LimitOrderTrancheUserAllByAddress",
    description: "list the limit orders of an address",
    arguments: ["address"],
    isList: true,
  },
  {
    name: "list-limit-order-tranche-user",
    rpc: "LimitOrderTrancheUserAll",
    description: "list all limit orders",
    isList: true,
  },
  {
    name: "show-limit-order-tranche-user",
    rpc: "LimitOrderTrancheUser",
    description: "print an address's part of a tranche",
    arguments: ["address", "tranche_key"],
    flag: {
      option: "--calc-withdraw",
      field: "calc_withdrawable_shares",
      description: "also print the shares that can be withdrawn",
    },
  },
  {
    name: "show-limit-order-tranche",
    rpc: "LimitOrderTranche",
    description: "print a tranche",
    arguments: TRANCHE_ARGUMENTS,
  },
  {
    name: "list-limit-order-tranche",
    rpc: "LimitOrderTrancheAll",
    description: "list the active tranches on one side of a pair",
    arguments: ["pair_id", "token_in"],
    isList: true,
  },
  {
    name: "list-user-deposits",
    rpc: "UserDepositsAll",
    description: "list the pool shares of an address",
    arguments: ["address"],
    flag: {
      option: "--include-pool-data",
      field: "include_pool_data",
      description: "also print the pools and all shares",
    },
    isList: true,
  },
  {
    name: "list-tick-liquidity",
    rpc: "TickLiquidityAll",
    description: "list pools and limit orders on one side of a pair, the cheapest for a taker first",
    arguments: ["pair_id", "token_in"],
    isList: true,
  },
  {
    name: "list-pool-metadata",
    rpc: "PoolMetadataAll",
    description: "list pair, centre and fee of all pools",
    isList: true,
  },
  {
    name: "show-pool-metadata",
    rpc: "PoolMetadata",
    description: "print pair, centre and fee of a pool",
    arguments: ["id"],
  },
  {
    name: "list-inactive-limit-order-tranche",
    alias: "list-filled-limit-order-tranche",
    rpc: "InactiveLimitOrderTrancheAll",
    description: "list filled, cancelled and expired tranches",
    isList: true,
  },
  {
    name: "show-inactive-limit-order-tranche",
    alias: "show-filled-limit-order-tranche",
    rpc: "InactiveLimitOrderTranche",
    description: "print a filled, cancelled or expired tranche",
    arguments: TRANCHE_ARGUMENTS,
  },
];
