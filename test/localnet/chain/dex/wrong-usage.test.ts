import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { beforeAll, describe, expect, it } from "vitest";
import { MsgMultiHopSwap } from "../../../../src/cosmos/proto/gen/neutron/dex/tx.ts";
import type { JsonObject, JsonValue } from "../../../../src/platform/base/json.ts";
import { trancheCount } from "../../../../src/localnet/chain/modules/dex/store.ts";
import { parseMultiHopSwap } from "../../../../src/localnet/chain/modules/dex/messages.ts";
import { ModuleError } from "../../../../src/localnet/chain/runtime/errors.ts";
import { messageFromJson, messageToJson } from "../../../../src/cosmos/proto/json.ts";
import { AUTHORITY, createDexWorld, DEX_ADDRESS, type DexWorld } from "../../../support/dex-world.ts";
import { startTestChain, testGenesis as appStateOf } from "../../../support/test-chain.ts";
import { createTestKey } from "../../../support/test-keys.ts";
import { buildTx } from "../../../support/test-tx.ts";
import { executionCases, validationCases } from "./wrong-usage-cases.ts";

const OWNER = createTestKey("owner").address;
const POOR = createTestKey("poor").address;
const NOW_NS = 1_790_000_000_000_000_000n;

/** Valid messages. Each case changes one of them. */
const VALID: Readonly<Record<string, JsonObject>> = {
  Deposit: {
    creator: OWNER,
    receiver: OWNER,
    token_a: "TokenA",
    token_b: "TokenB",
    amounts_a: ["1000", "500"],
    amounts_b: ["1000", "500"],
    tick_indexes_a_to_b: [0, 10],
    fees: [1, 5],
    options: [{}, {}],
  },
  Withdrawal: {
    creator: OWNER,
    receiver: OWNER,
    token_a: "TokenA",
    token_b: "TokenB",
    shares_to_remove: ["10"],
    tick_indexes_a_to_b: [0],
    fees: [1],
  },
  PlaceLimitOrder: {
    creator: OWNER,
    receiver: OWNER,
    token_in: "TokenA",
    token_out: "TokenB",
    tick_index_in_to_out: -100,
    amount_in: "100",
    order_type: "GOOD_TIL_CANCELLED",
  },
  WithdrawFilledLimitOrder: { creator: OWNER, tranche_key: "t||0" },
  CancelLimitOrder: { creator: OWNER, tranche_key: "t||0" },
  MultiHopSwap: {
    creator: OWNER,
    receiver: OWNER,
    routes: [{ hops: ["TokenA", "TokenB"] }],
    amount_in: "100",
    exit_limit_price: "0.5",
    pick_best_route: false,
  },
  UpdateParams: {
    authority: AUTHORITY,
    params: { fee_tiers: [1], paused: false, max_jits_per_block: 25, good_til_purge_allowance: 540_000 },
  },
};

const VALUES = {
  OWNER,
  POOR,
  AUTHORITY,
  DEX_ADDRESS,
  COSMOS: createTestKey("other", "cosmos").address,
  MAX_INT: (2n ** 256n - 1n).toString(),
  HUGE: "1".repeat(60),
};

let world: DexWorld;

beforeAll(() => {
  world = createDexWorld();
  world.fund(OWNER, [
    { denom: "TokenA", amount: 1_000_000n },
    { denom: "TokenB", amount: 1_000_000n },
  ]);
  const pool = {
    amounts_a: ["1000"],
    amounts_b: ["1000"],
    tick_indexes_a_to_b: [0],
    fees: [1],
    options: [{}],
  };
  expect(failureOf("Deposit", pool)).toBeUndefined();
  expect(failureOf("PlaceLimitOrder", {})).toBeUndefined();
});

/** Runs a message and keeps what it writes. Returns the error of the transaction. */
function failureOf(message: string, change: JsonObject): { code: string; text: string } | undefined {
  return failureOfBytes(
    message,
    messageFromJson(`neutron.dex.Msg${message}`, { ...VALID[message], ...change }),
  );
}

function failureOfBytes(message: string, bytes: Uint8Array): { code: string; text: string } | undefined {
  const handler = world.module.messages.find(({ typeUrl }) => typeUrl === `/neutron.dex.Msg${message}`);
  if (handler === undefined) throw new Error(`no handler of ${message}`);
  try {
    world.run(NOW_NS, (context) => handler.handle(context, bytes));
    return undefined;
  } catch (thrown) {
    // Any other exception would stop the chain.
    if (!(thrown instanceof ModuleError)) throw thrown;
    return { code: `${thrown.codespace}/${thrown.code}`, text: thrown.message };
  }
}

function simulate(message: string, change: JsonObject): JsonValue {
  const handler = world.module.queries.find(({ path }) => path === `/neutron.dex.Query/Simulate${message}`);
  const name = `neutron.dex.QuerySimulate${message}`;
  const request = messageFromJson(`${name}Request`, { msg: { ...VALID[message], ...change } });
  const response = world.read(NOW_NS, (context) => handler?.query(context, request));
  return messageToJson(`${name}Response`, response ?? new Uint8Array(0));
}

describe("wrong usage of the dex messages", () => {
  it.each(validationCases(VALUES))("$message: $name", ({ message, change, code, text }) => {
    expect(failureOf(message, change)).toEqual({ code, text: `failed to validate Msg${message}: ${text}` });
  });

  it.each(executionCases(VALUES))("$message: $name", ({ message, change, code, text }) => {
    const failure = failureOf(message, change);
    expect(failure?.code).toBe(code);
    expect(failure?.text).toContain(text);
  });

  it("reports a position with a fee that is not allowed, and deposits the other one", () => {
    expect(failureOf("Deposit", { fees: [7, 5], tick_indexes_a_to_b: [0, 0] })).toBeUndefined();
  });

  it("takes an order type without a name as a maker order that places nothing, as deployed", () => {
    expect(failureOf("PlaceLimitOrder", { order_type: 7 })).toBeUndefined();
  });

  it("takes a negative minimum average, as deployed", () => {
    const taker = { order_type: "IMMEDIATE_OR_CANCEL", tick_index_in_to_out: 1000 };
    expect(failureOf("PlaceLimitOrder", { ...taker, min_average_sell_price: "-1" })).toBeUndefined();
  });

  it("rejects an order whose new tranche has the key of a tranche at another tick", () => {
    const count = world.read(NOW_NS, trancheCount.get);
    world.run(NOW_NS, (context) => trancheCount.set(context, 0n));
    expect(failureOf("PlaceLimitOrder", { tick_index_in_to_out: -300 })).toEqual({
      code: "dex/1171",
      text: "tranche key already exists for different trade pair id or tick index: Tranche key already exists for different trade pair id or tick index",
    });
    world.run(NOW_NS, (context) => trancheCount.set(context, count));
  });

  it.each([[["TokenA"]], [[]]])("rejects the route %j, where the deployed module panics", (hops) => {
    expect(failureOf("MultiHopSwap", { routes: [{ hops }] })).toMatchObject({ code: "sdk/111222" });
  });

  it("an order without a name for its type charges nothing: its simulation names the token", () => {
    expect(simulate("PlaceLimitOrder", { order_type: 7 })).toMatchObject({
      resp: { coin_in: { denom: "TokenA", amount: "0" } },
    });
    const handler = world.module.messages.find(
      ({ typeUrl }) => typeUrl === "/neutron.dex.MsgPlaceLimitOrder",
    );
    const bytes = messageFromJson("neutron.dex.MsgPlaceLimitOrder", {
      ...VALID["PlaceLimitOrder"],
      order_type: 7,
    });
    const { result } = world.run(NOW_NS, (context) => handler?.handle(context, bytes));
    expect(
      messageToJson("neutron.dex.MsgPlaceLimitOrderResponse", result?.response ?? new Uint8Array(0)),
    ).toMatchObject({
      coin_in: { denom: "", amount: "0" },
    });
  });

  it("a route of one token has a simulation, unless the best route is wanted", () => {
    const routes = [{ hops: ["TokenA"] }];
    expect(simulate("MultiHopSwap", { routes })).toEqual({
      resp: { coin_out: { denom: "", amount: "0" }, route: { hops: ["TokenA"] }, dust: [] },
    });
    expect(() => simulate("MultiHopSwap", { routes, pick_best_route: true })).toThrow(
      "nil pointer dereference",
    );
    expect(() => simulate("MultiHopSwap", { routes, exit_limit_price: "2" })).toThrow(
      "All multihop routes failed",
    );
  });

  it("rejects every message of users while the module is paused, after its checks", () => {
    const params = { fee_tiers: [0, 1, 5], max_jits_per_block: 25, good_til_purge_allowance: 540_000 };
    expect(failureOf("UpdateParams", { params: { ...params, paused: true } })).toBeUndefined();
    for (const message of Object.keys(VALID).filter((name) => name !== "UpdateParams")) {
      expect(failureOf(message, {})).toEqual({
        code: "dex/1155",
        text: "Dex has been paused, all messages are disabled at this time",
      });
      expect(failureOf(message, { creator: "" })?.code).toBe("dex/1149");
    }
    expect(failureOf("UpdateParams", { params: { ...params, paused: false } })).toBeUndefined();
  });
});

describe("malformed numbers on the wire", () => {
  const unreadable = (text: string): string =>
    `math/big: cannot unmarshal ${JSON.stringify(text)} into a *big.Int`;
  const malformed = (message: string, field: number, text: string, error = unreadable(text)) => ({
    message,
    field,
    text,
    error,
  });
  const cases = [
    malformed("Deposit", 5, "abc"),
    malformed("Deposit", 6, "1.5"),
    malformed("Deposit", 5, `1${"0".repeat(100)}`, "integer out of range; got: 333, max: 256"),
    malformed("Withdrawal", 5, "0x"),
    malformed("PlaceLimitOrder", 7, " 1"),
    malformed("PlaceLimitOrder", 7, "09"),
    malformed("PlaceLimitOrder", 10, "1e5"),
    malformed("PlaceLimitOrder", 11, "0.5"),
    malformed(
      "PlaceLimitOrder",
      12,
      `1${"0".repeat(200)}`,
      `decimal '1${"0".repeat(200)}' out of range; max 345 bits`,
    ),
    malformed("MultiHopSwap", 4, (2n ** 256n).toString(), "integer out of range; got: 257, max: 256"),
    malformed("MultiHopSwap", 5, "one"),
  ];
  const key = createTestKey("owner");
  const chain = startTestChain(appStateOf([{ key, untrn: 1_000_000n }]));

  it.each(cases)(
    "$message, field $field: $text is refused by CheckTx and in a block",
    ({ message, field, text, error }) => {
      const valid = messageFromJson(`neutron.dex.Msg${message}`, VALID[message]);
      const value = new BinaryWriter()
        .raw(withoutField(valid, field))
        .uint32((field << 3) | 2)
        .string(text)
        .finish();
      const log = `${error}: tx parse error`;
      expect(failureOfBytes(message, value)).toEqual({ code: "sdk/2", text: log });
      const tx = buildTx({ key, sequence: 0n, messages: [{ typeUrl: `/neutron.dex.Msg${message}`, value }] });
      // The mempool of the SDK loses the code of the error, a block its text.
      const refusal = { codespace: "undefined", code: 1, log: `failed to decode tx: ${log}` };
      expect(chain.app.checkTx(tx, false)).toMatchObject(refusal);
      expect(chain.block(tx).txResults[0]).toMatchObject({
        codespace: "sdk",
        code: 2,
        log: "tx parse error",
      });
    },
  );

  it("are told from numbers in Go's notations", () => {
    const valid = messageFromJson("neutron.dex.MsgMultiHopSwap", VALID["MultiHopSwap"]);
    const message = { ...MsgMultiHopSwap.decode(valid), amountIn: "0x1_0", exitLimitPrice: "010" };
    expect(parseMultiHopSwap(message, "neutron")).toMatchObject({ amountIn: 16n, exitLimitPrice: 8n });
  });
});

/** Removes a field, of which the last value would otherwise count. */
function withoutField(bytes: Uint8Array, field: number): Uint8Array {
  const reader = new BinaryReader(bytes);
  const writer = new BinaryWriter();
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const [number, type] = reader.tag();
    reader.skip(type, number);
    if (number !== field) writer.raw(bytes.subarray(start, reader.pos));
  }
  return writer.finish();
}
