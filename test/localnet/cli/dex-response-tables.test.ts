import { describe, expect, it } from "vitest";
import { formatDexResponse } from "../../../src/localnet/cli/tx/dex.ts";

const coin = (amount: string, denom: string) => ({ denom, amount });

describe("tables of the dex responses", () => {
  it("show the positions of a deposit one by one, with the error of a failed one, and the shares", () => {
    const response = {
      reserve0_deposited: ["100", "0"],
      reserve1_deposited: ["7", "0"],
      failed_deposits: [{ deposit_idx: "1", error: "behind enemy lines" }],
      shares_issued: [coin("107", "neutron/pool/0"), coin("3", "neutron/pool/1")],
    };
    expect(formatDexResponse("Deposit", response).split("\n")).toEqual([
      "POSITION  TOKEN0 IN  TOKEN1 IN  ERROR",
      "0         100        7          -",
      "1         0          0          behind enemy lines",
      "shares issued: 107neutron/pool/0, 3neutron/pool/1",
    ]);
  });

  it("show an order with its tranche key, and a coin that is none as a dash", () => {
    const response = {
      trancheKey: "t||12",
      coin_in: coin("0", ""),
      taker_coin_out: coin("0", "b"),
      taker_coin_in: coin("0", "a"),
    };
    expect(formatDexResponse("PlaceLimitOrder", response).split("\n")).toEqual([
      "RESULT                VALUE",
      "tranche key           t||12",
      "paid in total         -",
      "paid to the book      0a",
      "bought from the book  0b",
    ]);
  });

  it.each([
    [
      "Withdrawal",
      {
        reserve0_withdrawn: "5",
        reserve1_withdrawn: "6",
        shares_burned: [coin("11", "neutron/pool/0")],
      },
      ["token0 withdrawn  5", "token1 withdrawn  6", "shares burned     11neutron/pool/0"],
    ],
    [
      "CancelLimitOrder",
      { taker_coin_out: coin("1", "a"), maker_coin_out: coin("2", "b") },
      ["proceeds  1a", "not sold  2b"],
    ],
    [
      "WithdrawFilledLimitOrder",
      { taker_coin_out: coin("1", "a"), maker_coin_out: coin("0", "b") },
      ["proceeds  1a", "not sold  0b"],
    ],
    [
      "MultiHopSwap",
      { coin_out: coin("9", "c"), route: { hops: ["a", "b", "c"] }, dust: [] },
      ["amount out  9c", "route       a, b, c", "dust        -"],
    ],
  ] as const)("show what %s returned", (name, response, lines) => {
    expect(formatDexResponse(name, response).split("\n").slice(1)).toEqual(lines);
  });

  it.each(["Deposit", "PlaceLimitOrder"] as const)("show dashes for a %s response without fields", (name) => {
    expect(formatDexResponse(name, {})).not.toContain("undefined");
  });
});
