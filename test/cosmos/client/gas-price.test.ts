import { describe, expect, it } from "vitest";
import { parseDec18 } from "../../../src/platform/base/decimal.ts";
import { ClientError } from "../../../src/cosmos/client-error.ts";
import {
  decodeGasPrice,
  feeFor,
  planGasPrice,
  readGasPrice,
} from "../../../src/cosmos/client/tx/tx-queries.ts";
import { GasPriceResponse } from "../../../src/cosmos/proto/gen/feemarket/feemarket/v1/query.ts";

const policy = { denom: "untrn", multiplier: parseDec18("1.5"), cap: parseDec18("0.01") };
const signal = new AbortController().signal;

describe("gas price", () => {
  it.each([
    ["0.0025", "0.00375"],
    ["0.008", "0.01"],
    ["0.01", "0.01"],
    ["12345.678", "capped"],
    ["0.00000000000000001", "0.000000000000000015"],
  ])("turns a chain price of %s into %s", (base, expected) => {
    if (expected === "capped") {
      expect(() => planGasPrice(parseDec18(base), policy)).toThrow(ClientError);
      return;
    }
    expect(planGasPrice(parseDec18(base), policy)).toBe(parseDec18(expected));
  });

  it("is decoded from an integer of 10^-18 units and from a decimal", () => {
    const encode = (amount: string): Uint8Array =>
      GasPriceResponse.encode({ price: { denom: "untrn", amount } }).finish();
    expect(decodeGasPrice(encode("2500000000000000"))).toBe(parseDec18("0.0025"));
    expect(decodeGasPrice(encode("0.002500000000000000"))).toBe(parseDec18("0.0025"));
    for (const bad of ["", "-1", "1e5", "NaN", "1".repeat(61)])
      expect(() => decodeGasPrice(encode(bad))).toThrow(ClientError);
    expect(() => decodeGasPrice(new Uint8Array(0))).toThrow(ClientError);
  });

  it("uses the fallback only when the chain has no fee market", async () => {
    const refuse = {
      code: "abci",
      path: "",
      abciCode: 6,
      codespace: "sdk",
      log: "unknown query path",
    } as const;
    const broken = { code: "unreachable", endpoint: "node", reason: "ECONNRESET" } as const;
    const fallback = parseDec18("0.02");
    const failing = (facts: typeof refuse | typeof broken) => ({
      grpcQuery: () => Promise.reject(new ClientError(facts, facts.code)),
    });
    expect(await readGasPrice(failing(refuse), { ...policy, fallback }, signal)).toBe(fallback);
    await expect(readGasPrice(failing(refuse), policy, signal)).rejects.toThrow("abci");
    await expect(readGasPrice(failing(broken), { ...policy, fallback }, signal)).rejects.toThrow(
      "unreachable",
    );
  });

  it("gives a fee that is rounded up", () => {
    expect(feeFor(parseDec18("0.0025"), 200_000n)).toBe(500n);
    expect(feeFor(parseDec18("0.0025"), 200_001n)).toBe(501n);
    expect(feeFor(parseDec18("0.000000000000000001"), 1n)).toBe(1n);
    expect(feeFor(0n, 1_000n)).toBe(0n);
  });
});
