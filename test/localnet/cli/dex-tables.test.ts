import { describe, expect, it } from "vitest";
import { DEX_QUERIES } from "../../../src/localnet/cli/query/dex.ts";
import { tableText } from "../../support/table-text.ts";

const KEY = { trade_pair_id: { maker_denom: "a", taker_denom: "b" }, tick_index_taker_to_maker: "-7" };
const RESERVES = { key: { ...KEY, fee: "1" }, reserves_maker_denom: "5", maker_price: "0.999300000000000" };

describe("tables of the dex queries", () => {
  it("show pools and limit orders of a side in one list, with the next page", () => {
    const tranche = {
      key: { ...KEY, tranche_key: "tk||0" },
      reserves_maker_denom: "1000",
      maker_price: "1.000000000000000",
      expiration_time: "0001-01-01T00:00:00Z",
    };
    const response = {
      tick_liquidity: [{ liquidity: RESERVES }, { limit_order_tranche: tranche }],
      pagination: { next_key: "AAE=", total: "0" },
    };
    expect(tableText(DEX_QUERIES, "list-tick-liquidity", response).split("\n")).toEqual([
      "KIND         MAKER  TAKER  TICK  FEE  TRANCHE  RESERVES  PRICE   EXPIRES",
      "pool         a      b      -7    1    -        5         0.9993  -",
      "limit order  a      b      -7    -    tk||0    1000      1       end of block",
      "next page: --page-key AAE=",
    ]);
  });

  it("show a pool in two rows and parameters one by one", () => {
    const pool = { pool: { id: "3", lower_tick0: RESERVES, upper_tick1: RESERVES } };
    expect(tableText(DEX_QUERIES, "show-pool", pool).split("\n")).toEqual([
      "POOL  MAKER  TAKER  TICK  FEE  RESERVES  PRICE",
      "3     a      b      -7    1    5         0.9993",
      "3     a      b      -7    1    5         0.9993",
    ]);
    const params = { params: { fee_tiers: ["0", "1"], paused: false, whitelisted_lps: [] } };
    expect(tableText(DEX_QUERIES, "params", params).split("\n")).toEqual([
      "PARAMETER        VALUE",
      "fee_tiers        0, 1",
      "paused           false",
      "whitelisted_lps  -",
    ]);
  });

  it("show only the titles of an empty list", () => {
    const response = { pool_metadata: [], pagination: { next_key: null, total: "0" } };
    expect(tableText(DEX_QUERIES, "list-pool-metadata", response)).toBe("ID  TOKEN0  TOKEN1  TICK  FEE");
  });
});
