import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { messageFromJson, messageToJson } from "../../../../src/cosmos/proto/json.ts";
import { CANONICAL_CHAIN_NAME, requireMessage } from "../../../../src/cosmos/proto/registry.ts";
import { createProtoVariant } from "../../../../src/cosmos/proto/variant.ts";
import { toHex, utf8 } from "../../../../src/platform/base/bytes.ts";
import { isRecord } from "../../../../src/platform/base/json.ts";
import { arbitraryBytes } from "../../../support/proto/arbitrary-message.ts";

const PAIR = "neutron.dex.TradePairID";
const RESPONSE = "neutron.dex.QueryAllTickLiquidityResponse";
/** Exchanged, moved and renamed fields, and a number of two bytes. */
const variant = createProtoVariant([
  { message: PAIR, field: "maker_denom", number: 2 },
  { message: PAIR, field: "taker_denom", number: 1 },
  { message: "neutron.dex.PoolReservesKey", field: "fee", number: 300 },
  { message: "neutron.dex.TickLiquidity", field: "liquidity", name: "pool_reserves" },
]);

describe("a variant of the definitions", () => {
  it("converts every message there and back, and its JSON has the same values", () => {
    fc.assert(
      fc.property(arbitraryBytes(requireMessage(RESPONSE)), (bytes) => {
        const own = variant.encode(RESPONSE, bytes);
        expect(toHex(variant.decode(RESPONSE, own))).toBe(toHex(bytes));
        const json = messageToJson(RESPONSE, own, CANONICAL_CHAIN_NAME, variant);
        expect(renamed(json)).toEqual(messageToJson(RESPONSE, bytes));
        // JSON has the non-nullable fields, also where they were absent.
        const again = messageFromJson(RESPONSE, json, CANONICAL_CHAIN_NAME, variant);
        expect(messageToJson(RESPONSE, again, CANONICAL_CHAIN_NAME, variant)).toEqual(json);
      }),
      { numRuns: 200 },
    );
  });

  it("writes fields in the order of its numbers", () => {
    const bytes = messageFromJson(PAIR, { maker_denom: "m", taker_denom: "t" });
    expect(toHex(bytes)).toBe(`0a01${toHex(utf8("m"))}1201${toHex(utf8("t"))}`);
    expect(toHex(variant.encode(PAIR, bytes))).toBe(`0a01${toHex(utf8("t"))}1201${toHex(utf8("m"))}`);
  });

  it("leaves bytes alone that are no message, and messages that it does not change", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        expect(variant.encode("cosmos.base.v1beta1.Coin", bytes)).toBe(bytes);
        const decoded = variant.decode(RESPONSE, variant.encode(RESPONSE, bytes));
        expect(decoded.length).toBeGreaterThanOrEqual(0);
        expect(typeof variant.recognizes(RESPONSE, bytes)).toBe("boolean");
      }),
    );
    const broken = Uint8Array.of(0x0a, 0x7f, 1);
    expect(variant.encode(RESPONSE, broken)).toBe(broken);
  });

  it("recognizes the numbers that only it has", () => {
    const key = { trade_pair_id: { maker_denom: "m", taker_denom: "t" }, fee: "7" };
    const bytes = messageFromJson(RESPONSE, { tick_liquidity: [{ liquidity: { key } }] });
    expect(variant.recognizes(RESPONSE, bytes)).toBe(false);
    expect(variant.recognizes(RESPONSE, variant.encode(RESPONSE, bytes))).toBe(true);
    expect(variant.recognizes("cosmos.base.v1beta1.Coin", bytes)).toBe(false);
  });

  it("names fields that exist", () => {
    const wrong = createProtoVariant([{ message: PAIR, field: "maker", number: 4 }]);
    expect(() => wrong.message(PAIR)).toThrow("TradePairID has no field maker");
  });
});

function renamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renamed);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name === "pool_reserves" ? "liquidity" : name,
      renamed(inner),
    ]),
  );
}
