import { Argument, type Command, Option } from "commander";
import { isRecord, type JsonValue } from "../../../../../platform/base/json.ts";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { cellText, column, type Column, fieldAt } from "../../../../../platform/cli/table.ts";
import {
  type AnswerTable,
  PARAMS_TABLE,
  type ServiceQuery,
  serviceQueryCommands,
} from "../../../../cli/module-query.ts";
import { parseFee, parseTick } from "./arguments.ts";

/** `relaywatch query dex` (dex.md, "CLI"). */
export function queryDexCommand(context: CliContext): Command {
  return serviceQueryCommands(
    { service: "neutron.dex.Query", arguments: ARGUMENTS, tables: DEX_TABLES, queries: QUERIES },
    context,
  );
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

const QUERIES: readonly ServiceQuery<keyof typeof ARGUMENTS, keyof typeof DEX_TABLES>[] = [
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
    options: {
      calc_withdrawable_shares: () =>
        new Option("--calc-withdraw", "also print the shares that can be withdrawn"),
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
    options: {
      include_pool_data: () => new Option("--include-pool-data", "also print the pools and all shares"),
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

const SIDE = [
  column("MAKER", "key.trade_pair_id.maker_denom"),
  column("TAKER", "key.trade_pair_id.taker_denom"),
  column("TICK", "key.tick_index_taker_to_maker"),
];
const TRANCHE_KEY = column("TRANCHE", "key.tranche_key");
const FEE = column("FEE", "key.fee");
const RESERVES = column("RESERVES", "reserves_maker_denom");
const PRICE = column("PRICE", "maker_price");
const EXPIRES: Column = {
  title: "EXPIRES",
  cell: (row) => {
    const time = cellText(fieldAt(row, "expiration_time"));
    return time === GO_ZERO_TIME ? "end of block" : time;
  },
};

/** Expiration time of JUST_IN_TIME orders. */
const GO_ZERO_TIME = "0001-01-01T00:00:00Z";

const RESERVES_COLUMNS = [...SIDE, FEE, RESERVES, PRICE];

const TRANCHE_COLUMNS = [
  TRANCHE_KEY,
  ...SIDE,
  column("MAKER LEFT", "reserves_maker_denom"),
  column("TAKER LEFT", "reserves_taker_denom"),
  column("MAKER TOTAL", "total_maker_denom"),
  column("TAKER TOTAL", "total_taker_denom"),
  PRICE,
  EXPIRES,
];

const USER_COLUMNS = [
  column("TRANCHE", "tranche_key"),
  column("ADDRESS", "address"),
  column("MAKER", "trade_pair_id.maker_denom"),
  column("TAKER", "trade_pair_id.taker_denom"),
  column("TICK", "tick_index_taker_to_maker"),
  column("TYPE", "order_type"),
  column("OWNED", "shares_owned"),
  column("WITHDRAWN", "shares_withdrawn"),
];

const METADATA_COLUMNS = [
  column("ID", "id"),
  column("TOKEN0", "pair_id.token0"),
  column("TOKEN1", "pair_id.token1"),
  column("TICK", "tick"),
  column("FEE", "fee"),
];

const DEPOSIT_COLUMNS = [
  column("TOKEN0", "pair_id.token0"),
  column("TOKEN1", "pair_id.token1"),
  column("CENTER", "center_tick_index"),
  column("LOWER", "lower_tick_index"),
  column("UPPER", "upper_tick_index"),
  column("FEE", "fee"),
  column("SHARES", "shares_owned"),
  column("TOTAL", "total_shares"),
  column("RESERVES0", "pool.lower_tick0.reserves_maker_denom"),
  column("RESERVES1", "pool.upper_tick1.reserves_maker_denom"),
];

/** A row of a list of ticks is one side of a pool or a tranche. */
const TICK_COLUMNS = [
  { title: "KIND", cell: (row) => (fieldAt(row, "key.tranche_key") === null ? "pool" : "limit order") },
  ...SIDE,
  FEE,
  TRANCHE_KEY,
  RESERVES,
  PRICE,
  EXPIRES,
] satisfies readonly Column[];

/** Tables by query. */
export const DEX_TABLES = {
  Params: PARAMS_TABLE,
  LimitOrderTrancheUser: {
    path: "limit_order_tranche_user",
    columns: USER_COLUMNS,
    notes: [["withdrawable shares: ", "withdrawable_shares"]],
  },
  LimitOrderTrancheUserAll: { path: "limit_order_tranche_user", columns: USER_COLUMNS },
  LimitOrderTrancheUserAllByAddress: { path: "limit_orders", columns: USER_COLUMNS },
  LimitOrderTranche: { path: "limit_order_tranche", columns: TRANCHE_COLUMNS },
  LimitOrderTrancheAll: { path: "limit_order_tranche", columns: TRANCHE_COLUMNS },
  InactiveLimitOrderTranche: { path: "inactive_limit_order_tranche", columns: TRANCHE_COLUMNS },
  InactiveLimitOrderTrancheAll: { path: "inactive_limit_order_tranche", columns: TRANCHE_COLUMNS },
  UserDepositsAll: { path: "deposits", columns: DEPOSIT_COLUMNS },
  TickLiquidityAll: {
    path: "tick_liquidity",
    columns: TICK_COLUMNS,
    rows: (record) => (isRecord(record) ? Object.values(record) : []),
  },
  PoolReservesAll: { path: "pool_reserves", columns: RESERVES_COLUMNS },
  PoolReserves: { path: "pool_reserves", columns: RESERVES_COLUMNS },
  Pool: { path: "pool", columns: [column("POOL", "id"), ...RESERVES_COLUMNS], rows: poolRows },
  PoolByID: { path: "pool", columns: [column("POOL", "id"), ...RESERVES_COLUMNS], rows: poolRows },
  PoolMetadata: { path: "Pool_metadata", columns: METADATA_COLUMNS },
  PoolMetadataAll: { path: "pool_metadata", columns: METADATA_COLUMNS },
} as const satisfies Readonly<Record<string, AnswerTable>>;

function poolRows(pool: JsonValue): readonly JsonValue[] {
  return ["lower_tick0", "upper_tick1"].map((side) => {
    const reserves = fieldAt(pool, side);
    return isRecord(reserves) ? { id: fieldAt(pool, "id"), ...reserves } : reserves;
  });
}
