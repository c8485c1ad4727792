import { describe, expect, it } from "vitest";
import { messageToAminoJson } from "../../../src/cosmos/proto/amino-json.ts";
import { messageFromJson } from "../../../src/cosmos/proto/json.ts";

function amino(typeName: string, json: unknown): unknown {
  return messageToAminoJson(typeName, messageFromJson(typeName, json));
}

describe("amino JSON", () => {
  it("leaves out defaults, quotes 64-bit integers, numbers enums and shows decimals as on the wire", () => {
    const order = {
      creator: "a",
      receiver: "",
      token_in: "x",
      token_out: "y",
      tick_index_in_to_out: "-7",
      amount_in: "12",
      order_type: "GOOD_TIL_TIME",
      expiration_time: "2030-01-01T00:00:00.500Z",
      limit_sell_price: "0.9",
    };
    expect(amino("neutron.dex.MsgPlaceLimitOrder", order)).toEqual({
      creator: "a",
      token_in: "x",
      token_out: "y",
      tick_index_in_to_out: "-7",
      amount_in: "12",
      order_type: 4,
      expiration_time: "2030-01-01T00:00:00.5Z",
      limit_sell_price: "900000000000000000000000000",
    });
  });

  it("keeps empty messages in a list and zero amounts", () => {
    const deposit = { amounts_a: ["0"], fees: [0, 1], options: [{}, { disable_autoswap: true }] };
    expect(amino("neutron.dex.MsgDeposit", deposit)).toEqual({
      amounts_a: ["0"],
      fees: ["0", "1"],
      options: [{}, { disable_autoswap: true }],
    });
  });

  it("writes messages with dont_omitempty even when they are empty, and refuses them when they are absent", () => {
    expect(amino("neutron.dex.MsgUpdateParams", {})).toEqual({ params: {} });
    expect(() => messageToAminoJson("neutron.dex.MsgUpdateParams", new Uint8Array(0))).toThrow(
      "neutron.dex.MsgUpdateParams has no amino JSON: params is absent",
    );
  });
});
