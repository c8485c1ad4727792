import { isRecord, type JsonValue } from "../../../platform/base/json.ts";
import { cellText, fieldAt } from "../../../platform/cli/table.ts";
import { type QueryGroup, query, queryCommands } from "../module-query.ts";
import { parseFee, parseTick } from "../dex-arguments.ts";

const SIDE = {
  MAKER: "key.trade_pair_id.maker_denom",
  TAKER: "key.trade_pair_id.taker_denom",
  TICK: "key.tick_index_taker_to_maker",
};
const RESERVES = {
  columns: { ...SIDE, FEE: "key.fee", RESERVES: "reserves_maker_denom", PRICE: "maker_price" },
};
const TRANCHE = {
  columns: {
    TRANCHE: "key.tranche_key",
    ...SIDE,
    "MAKER LEFT": "reserves_maker_denom",
    "TAKER LEFT": "reserves_taker_denom",
    "MAKER TOTAL": "total_maker_denom",
    "TAKER TOTAL": "total_taker_denom",
    PRICE: "maker_price",
    EXPIRES: expirationText,
  },
};
/** Each row in a tick list is either one side of a pool or a tranche. */
const TICK = {
  columns: {
    KIND: (row: JsonValue) => (fieldAt(row, "key.tranche_key") === null ? "pool" : "limit order"),
    ...SIDE,
    FEE: "key.fee",
    TRANCHE: "key.tranche_key",
    RESERVES: "reserves_maker_denom",
    PRICE: "maker_price",
    EXPIRES: expirationText,
  },
  rows: (record: JsonValue) => (isRecord(record) ? Object.values(record) : []),
};
const USER = `TRANCHE tranche_key, ADDRESS address, MAKER trade_pair_id.maker_denom,
      TAKER trade_pair_id.taker_denom, TICK tick_index_taker_to_maker, TYPE order_type,
      OWNED shares_owned, WITHDRAWN shares_withdrawn`;
const METADATA = "ID id, TOKEN0 pair_id.token0, TOKEN1 pair_id.token1, TICK tick, FEE fee";
const DEPOSIT = `TOKEN0 pair_id.token0, TOKEN1 pair_id.token1, CENTER center_tick_index,
      LOWER lower_tick_index, UPPER upper_tick_index, FEE fee, SHARES shares_owned,
      TOTAL total_shares, RESERVES0 pool.lower_tick0.reserves_maker_denom,
      RESERVES1 pool.upper_tick1.reserves_maker_denom`;
const POOL = { columns: { POOL: "id", ...RESERVES.columns }, rows: poolRows };

/** Go's zero time, which is the expiration time of JUST_IN_TIME orders. */
const GO_ZERO_TIME = "0001-01-01T00:00:00Z";

function expirationText(row: JsonValue): string {
  const time = cellText(fieldAt(row, "expiration_time"));
  return time === GO_ZERO_TIME ? "end of block" : time;
}

function poolRows(pool: JsonValue): readonly JsonValue[] {
  return ["lower_tick0", "upper_tick1"].map((side) => {
    const reserves = fieldAt(pool, side);
    return isRecord(reserves) ? { id: fieldAt(pool, "id"), ...reserves } : reserves;
  });
}

/** Command table for the queries of `neutron.dex.Query`, as specified in dex.md, "CLI". */
export const DEX_QUERIES: QueryGroup = {
  service: "neutron.dex.Query",
  fields: {
    pair_id: "<pair-id> the pair's denominations joined by <>, e.g. 'A<>B'",
    token_in: "<token-in> denomination that the makers on this side sell",
    tick_index: ["<tick-index> tick index; write [-5] for -5", parseTick],
    fee: ["<fee> the pool's fee in basis points", parseFee],
    tranche_key: "<tranche-key> tranche key",
    address: "<address> bech32 address",
    pool_id: ["<pool-id> pool id", parseFee],
    id: ["<id> pool id", parseFee],
  },
  queries: {
    params: query("Params", "print the module's parameters"),
    "show-pool": query("Pool", "print the pool with a given centre tick and fee", POOL),
    "show-pool-by-id": query("PoolByID", "print a pool", POOL),
    "list-pool-reserves": query(
      "PoolReservesAll",
      "list the reserves of all pools on one side of a pair",
      RESERVES,
    ),
    "show-pool-reserves": query("PoolReserves", "print one side of a pool", {
      ...RESERVES,
      takes: ["pair_id", "tick_index", "token_in", "fee"],
    }),
    "list-user-limit-orders": query(
      "LimitOrderTrancheUserAllByAddress",
      "list an address's limit orders",
      USER,
    ),
    "list-limit-order-tranche-user": query("LimitOrderTrancheUserAll", "list all limit orders", USER),
    "show-limit-order-tranche-user": query("LimitOrderTrancheUser", "print an address's share of a tranche", {
      columns: USER,
      notes: [["withdrawable shares: ", "withdrawable_shares"]],
      options: {
        calc_withdrawable_shares: ["--calc-withdraw", "also print the withdrawable shares"],
      },
    }),
    "show-limit-order-tranche": query("LimitOrderTranche", "print a tranche", {
      ...TRANCHE,
      takes: ["pair_id", "token_in", "tick_index", "tranche_key"],
    }),
    "list-limit-order-tranche": query(
      "LimitOrderTrancheAll",
      "list the active tranches on one side of a pair",
      TRANCHE,
    ),
    "list-user-deposits": query("UserDepositsAll", "list an address's pool shares", {
      columns: DEPOSIT,
      options: { include_pool_data: ["--include-pool-data", "also print each pool and its total shares"] },
    }),
    "list-tick-liquidity": query(
      "TickLiquidityAll",
      "list the pools and limit orders on one side of a pair, the cheapest for a taker first",
      TICK,
    ),
    "list-pool-metadata": query("PoolMetadataAll", "list all pools' pairs, centres and fees", METADATA),
    "show-pool-metadata": query("PoolMetadata", "print a pool's pair, centre and fee", METADATA),
    "list-inactive-limit-order-tranche|list-filled-limit-order-tranche": query(
      "InactiveLimitOrderTrancheAll",
      "list filled, cancelled and expired tranches",
      TRANCHE,
    ),
    "show-inactive-limit-order-tranche|show-filled-limit-order-tranche": query(
      "InactiveLimitOrderTranche",
      "print a filled, cancelled or expired tranche",
      TRANCHE,
    ),
  },
};

export const queryDexCommand = queryCommands(DEX_QUERIES);
