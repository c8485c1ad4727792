import { describe, expect, it } from "vitest";
import { encodeMessage } from "../../../src/cosmos/proto/encode.ts";
import { Coin } from "../../../src/cosmos/proto/gen/cosmos/base/v1beta1/coin.ts";

const small = { denom: "untrn", amount: "5" };

describe("encoding with the shared writer", () => {
  it("encodes one message after the other, each in an array of its own", () => {
    const first = encodeMessage(Coin, small);
    const copy = first.slice();
    encodeMessage(Coin, { denom: "ibc/OTHER", amount: "77" });
    expect(first).toEqual(copy);
    expect(first).toEqual(Coin.encode(small).finish());
  });

  it("encodes a message while another one is encoded", () => {
    const nested: Uint8Array[] = [];
    const outer = encodeMessage(
      {
        encode: (denom: string, writer) => {
          const begun = Coin.encode({ denom, amount: "" }, writer);
          nested.push(encodeMessage(Coin, small));
          return begun;
        },
      },
      "outer",
    );
    expect(nested).toEqual([Coin.encode(small).finish()]);
    expect(outer).toEqual(Coin.encode({ denom: "outer", amount: "" }).finish());
  });

  it("starts anew after a message that failed and after a large one", () => {
    const failing = {
      encode: (_: string, writer?: Parameters<typeof Coin.encode>[1]) => {
        Coin.encode(small, writer);
        throw new Error("no such number");
      },
    };
    expect(() => encodeMessage(failing, "")).toThrow("no such number");
    expect(encodeMessage(Coin, small)).toEqual(Coin.encode(small).finish());
    const large = { denom: "d".repeat(100_000), amount: "1" };
    expect(encodeMessage(Coin, large)).toEqual(Coin.encode(large).finish());
    expect(encodeMessage(Coin, small)).toEqual(Coin.encode(small).finish());
  });
});
