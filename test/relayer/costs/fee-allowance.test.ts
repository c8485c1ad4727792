import { describe, expect, it } from "vitest";
import { ClientError } from "../../../src/cosmos/client-error.ts";
import {
  AllowedMsgAllowance,
  BasicAllowance,
  PeriodicAllowance,
} from "../../../src/cosmos/proto/gen/cosmos/feegrant/v1beta1/feegrant.ts";
import { QueryAllowanceResponse } from "../../../src/cosmos/proto/gen/cosmos/feegrant/v1beta1/query.ts";
import { decodeAllowance, readAllowance } from "../../../src/relayer/costs/fee-allowance.ts";

const { signal } = new AbortController();
const coins = (amount: string, denom = "untrn") => [{ denom, amount }];
const at = (seconds: number) => ({ seconds: BigInt(seconds), nanos: 0 });
const basic = (fields: Partial<BasicAllowance>) => ({
  typeUrl: "/cosmos.feegrant.v1beta1.BasicAllowance",
  value: BasicAllowance.encode({ spendLimit: [], expiration: undefined, ...fields }).finish(),
});
const allowed = (allowance: { typeUrl: string; value: Uint8Array }) => ({
  typeUrl: "/cosmos.feegrant.v1beta1.AllowedMsgAllowance",
  value: AllowedMsgAllowance.encode({ allowance, allowedMessages: ["/x"] }).finish(),
});
const NONE = { left: undefined, expiresAtMs: undefined, period: undefined, isKnown: true };

describe("decodeAllowance", () => {
  it("reads limit and end of a basic allowance", () => {
    expect(decodeAllowance(basic({}), "untrn")).toEqual({ ...NONE, type: "BasicAllowance" });
    const limited = basic({ spendLimit: coins("500"), expiration: at(100) });
    expect(decodeAllowance(limited, "untrn")).toMatchObject({ left: 500n, expiresAtMs: 100_000 });
    // A limit in another denomination pays no fee.
    expect(decodeAllowance(basic({ spendLimit: coins("5", "uatom") }), "untrn").left).toBe(0n);
    expect(decodeAllowance(basic({ spendLimit: coins("-5") }), "untrn").left).toBe(0n);
  });

  it("reads a period, also within the messages that are allowed", () => {
    const value = PeriodicAllowance.encode({
      basic: { spendLimit: coins("900"), expiration: undefined },
      period: { seconds: 3_600n, nanos: 0 },
      periodSpendLimit: coins("100"),
      periodCanSpend: coins("40"),
      periodReset: at(7_200),
    }).finish();
    const periodic = { typeUrl: "/cosmos.feegrant.v1beta1.PeriodicAllowance", value };
    const expected = {
      ...NONE,
      type: "PeriodicAllowance",
      left: 900n,
      period: { ms: 3_600_000, limit: 100n, left: 40n, resetAtMs: 7_200_000 },
    };
    expect(decodeAllowance(periodic, "untrn")).toEqual(expected);
    expect(decodeAllowance(allowed(periodic), "untrn")).toEqual(expected);
  });

  it("claims nothing about a type that it does not know, and about endless nesting", () => {
    const other = { typeUrl: "/x.v1.OtherAllowance", value: new Uint8Array() };
    expect(decodeAllowance(other, "untrn")).toEqual({ ...NONE, type: "OtherAllowance", isKnown: false });
    let deep = basic({});
    for (let depth = 0; depth < 6; depth++) deep = allowed(deep);
    expect(decodeAllowance(deep, "untrn").isKnown).toBe(false);
  });
});

describe("readAllowance", () => {
  const read = (answer: Uint8Array | Error) =>
    readAllowance(
      {
        grpcQuery: async () => {
          if (answer instanceof Error) throw answer;
          return answer;
        },
      },
      { granter: "a", grantee: "b", denom: "untrn" },
      signal,
    );

  it("reads the grant, and knows when there is none", async () => {
    const allowance = { granter: "a", grantee: "b", allowance: basic({ spendLimit: coins("7") }) };
    expect((await read(QueryAllowanceResponse.encode({ allowance }).finish()))?.left).toBe(7n);
    const log = "fee-grant not found";
    const facts = { code: "abci", path: "p", abciCode: 38, codespace: "sdk", log } as const;
    expect(await read(new ClientError(facts, log))).toBeUndefined();
  });

  it("rejects when the chain cannot be read", async () => {
    const lost = new ClientError({ code: "closed" }, "the connection is closed");
    await expect(read(lost)).rejects.toBe(lost);
  });
});
