import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ClientError } from "../../src/cosmos/client-error.ts";
import { initialState, paramsToWire, toWire } from "../../src/cosmos/fee-market/market.ts";
import type { State } from "../../src/cosmos/proto/gen/feemarket/feemarket/v1/genesis.ts";
import type { Params as WireParams } from "../../src/cosmos/proto/gen/feemarket/feemarket/v1/params.ts";
import { ParamsResponse, StateResponse } from "../../src/cosmos/proto/gen/feemarket/feemarket/v1/query.ts";
import { defaultParams } from "../../src/localnet/chain/modules/feemarket/module.ts";
import { readMarketParams, readMarketState } from "../../src/relayer/chain/local-queries.ts";

const PARAMS = defaultParams("untrn");
const { signal } = new AbortController();

const client = (response: Uint8Array | Error) => ({
  grpcQuery: async () => {
    if (response instanceof Error) throw response;
    return response;
  },
});
const params = (fields: Partial<WireParams>) =>
  readMarketParams(
    client(ParamsResponse.encode({ params: { ...paramsToWire(PARAMS), ...fields } }).finish()),
    signal,
  );
const state = (fields: Partial<State>) =>
  readMarketState(
    client(StateResponse.encode({ state: { ...toWire(initialState(PARAMS)), ...fields } }).finish()),
    signal,
  );
const badAnswer = (where: string) =>
  expect.objectContaining({ facts: expect.objectContaining({ code: "bad-answer", where }) });

describe("readMarketParams", () => {
  it("reads all parameters", async () => expect(await params({})).toEqual(PARAMS));

  it("returns undefined for a chain without a fee market, or with one that is off", async () => {
    const log = "unknown query path";
    const none = new ClientError({ code: "abci", path: "p", abciCode: 6, codespace: "sdk", log }, log);
    expect(await readMarketParams(client(none), signal)).toBeUndefined();
    expect(await params({ enabled: false })).toBeUndefined();
  });

  it("throws any other error", async () => {
    const lost = new ClientError({ code: "closed" }, "the connection is closed");
    await expect(readMarketParams(client(lost), signal)).rejects.toBe(lost);
    await expect(readMarketState(client(lost), signal)).rejects.toBe(lost);
  });

  it.each(["alpha", "beta", "gamma", "delta", "minBaseGasPrice", "minLearningRate", "maxLearningRate"])(
    "refuses %s unless it is an integer of at most 60 digits",
    async (name) => {
      for (const text of ["", "-1", "0.5", "1e3", "9".repeat(61)])
        await expect(params({ [name]: text })).rejects.toEqual(badAnswer(`params.${name}`));
    },
  );

  it("refuses what no market can have", async () => {
    await expect(params({ minBaseGasPrice: "0" })).rejects.toEqual(badAnswer("params.minBaseGasPrice"));
    await expect(params({ maxBlockUtilization: 1n })).rejects.toEqual(
      badAnswer("params.maxBlockUtilization"),
    );
    for (const window of [0n, 10_001n])
      await expect(params({ window })).rejects.toEqual(badAnswer("params.window"));
    await expect(readMarketParams(client(new Uint8Array()), signal)).rejects.toEqual(badAnswer("params"));
  });
});

describe("readMarketState", () => {
  it("reads every state", () =>
    fc.assert(
      fc.asyncProperty(
        fc.bigInt({ min: 0n, max: 10n ** 59n }),
        fc.array(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), { minLength: 1, maxLength: 8 }),
        fc.nat(),
        async (price, window, at) => {
          const index = BigInt(at % window.length);
          const read = await state({ baseGasPrice: `${price}`, window, index });
          expect(read).toEqual({ baseGasPrice: price, learningRate: PARAMS.minLearningRate, window, index });
        },
      ),
    ));

  it("refuses what no market can have", async () => {
    await expect(state({ baseGasPrice: "0.0025" })).rejects.toEqual(badAnswer("state.baseGasPrice"));
    await expect(state({ learningRate: "-1" })).rejects.toEqual(badAnswer("state.learningRate"));
    await expect(state({ index: 1n })).rejects.toEqual(badAnswer("state.index"));
    await expect(state({ window: [] })).rejects.toEqual(badAnswer("state.index"));
    await expect(readMarketState(client(new Uint8Array()), signal)).rejects.toEqual(badAnswer("state"));
  });

  it("asks for the given height", async () => {
    const asked: unknown[] = [];
    const grpcQuery = async (path: string, _request: Uint8Array, _signal: AbortSignal, height?: unknown) => {
      asked.push(path, height);
      return StateResponse.encode({ state: toWire(initialState(PARAMS)) }).finish();
    };
    await readMarketState({ grpcQuery }, signal, { atLeast: 7n });
    expect(asked).toEqual(["/feemarket.feemarket.v1.Query/State", { atLeast: 7n }]);
  });
});
