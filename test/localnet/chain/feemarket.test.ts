import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DEC18_ONE, formatDec18, parseDec18 } from "../../../src/platform/base/decimal.ts";
import {
  addUtilization,
  closeBlock,
  initialState,
  type State,
  type Params,
  paramsToWire,
} from "../../../src/cosmos/fee-market/market.ts";
import {
  QueryBalanceRequest,
  QueryBalanceResponse,
} from "../../../src/cosmos/proto/gen/cosmos/bank/v1beta1/query.ts";
import { Params as WireParams } from "../../../src/cosmos/proto/gen/feemarket/feemarket/v1/params.ts";
import { messageToJson } from "../../../src/cosmos/proto/json.ts";
import type { AppOptions } from "../../../src/localnet/chain/app.ts";
import { formatAddress, moduleAddress } from "../../../src/localnet/chain/runtime/address.ts";
import { startTestChain, type TestChain, testGenesis } from "../../support/test-chain.ts";
import { createTestKey } from "../../support/test-keys.ts";
import { buildTx, sendMessage } from "../../support/test-tx.ts";
import { defaultParams, findParamsError } from "../../../src/localnet/chain/modules/feemarket/module.ts";

const PARAMS = defaultParams("untrn");
const TARGET = PARAMS.maxBlockUtilization / 2n;

/** Returns the state after one block that used this gas. */
function after(state: State, gas: bigint, params: Params): State {
  const added = addUtilization(state, gas, params);
  if ("exceeded" in added) throw new Error("the block is too full");
  return closeBlock(added.state, params);
}

const priced = (price: string): State => ({ ...initialState(PARAMS), baseGasPrice: parseDec18(price) });

describe("the price of gas", () => {
  it.each([
    ["falls by an eighth after an empty block", "1", 0n, "0.875000000000000000"],
    ["stays after a block on target", "1", TARGET, "1.000000000000000000"],
    ["rises by an eighth after a full block", "1", PARAMS.maxBlockUtilization, "1.125000000000000000"],
    [
      "rises by a sixteenth half way between target and full",
      "1",
      (TARGET * 3n) / 2n,
      "1.062500000000000000",
    ],
    ["does not fall below its minimum", "0.0026", 0n, "0.002500000000000000"],
    ["rises from its minimum", "0.0025", PARAMS.maxBlockUtilization, "0.002812500000000000"],
  ])("%s", (_name, price, gas, expected) => {
    expect(formatDec18(after(priced(price), gas, PARAMS).baseGasPrice)).toBe(expected);
  });

  it("is at least the minimum after any blocks", () => {
    const gases = fc.array(fc.bigInt({ min: 0n, max: PARAMS.maxBlockUtilization }), { maxLength: 30 });
    fc.assert(
      fc.property(gases, (all) => {
        const end = all.reduce((state, gas) => after(state, gas, PARAMS), initialState(PARAMS));
        expect(end.baseGasPrice).toBeGreaterThanOrEqual(PARAMS.minBaseGasPrice);
        expect(end.window).toEqual([0n]);
      }),
    );
  });
});

describe("the learning rate", () => {
  const params: Params = {
    ...PARAMS,
    alpha: parseDec18("0.025"),
    beta: parseDec18("0.95"),
    gamma: parseDec18("0.25"),
    minLearningRate: parseDec18("0.0125"),
    window: 4n,
  };

  it("grows by alpha when the window is nearly empty or full and shrinks by beta otherwise", () => {
    const start: State = { ...initialState(params), window: [0n, 0n, 0n, 0n] };
    const full = [1, 2, 3, 4].reduce((state) => after(state, params.maxBlockUtilization, params), start);
    expect(formatDec18(after(start, 0n, params).learningRate)).toBe("0.037500000000000000");
    expect(full.learningRate).toBeGreaterThan(start.learningRate);
    const mixed = after(
      { ...start, learningRate: DEC18_ONE / 4n, window: [0n, TARGET, TARGET, TARGET] },
      TARGET,
      params,
    );
    expect(formatDec18(mixed.learningRate)).toBe("0.237500000000000000");
    expect(mixed.index).toBe(1n);
  });

  it("stays between its bounds", () => {
    const gases = fc.array(fc.bigInt({ min: 0n, max: params.maxBlockUtilization }), { maxLength: 60 });
    fc.assert(
      fc.property(gases, (all) => {
        const end = all.reduce((state, gas) => after(state, gas, params), initialState(params));
        expect(end.learningRate).toBeGreaterThanOrEqual(params.minLearningRate);
        expect(end.learningRate).toBeLessThanOrEqual(params.maxLearningRate);
      }),
    );
  });
});

describe("the utilization of a block", () => {
  it("may reach the maximum and not exceed it by one", () => {
    const state = initialState(PARAMS);
    expect(addUtilization(state, PARAMS.maxBlockUtilization, PARAMS)).toMatchObject({
      state: { window: [30_000_000n] },
    });
    expect(addUtilization(state, PARAMS.maxBlockUtilization + 1n, PARAMS)).toEqual({ exceeded: 30_000_001n });
  });
});

describe("parameters", () => {
  it.each<readonly [Partial<Params>, string | undefined]>([
    [{}, undefined],
    [{ window: 0n }, "window"],
    [{ alpha: -1n }, "alpha"],
    [{ beta: DEC18_ONE + 1n }, "beta"],
    [{ gamma: DEC18_ONE }, "gamma"],
    [{ delta: -1n }, "delta"],
    [{ maxBlockUtilization: 1n }, "max_block_utilization"],
    [{ minBaseGasPrice: 0n }, "min_base_gas_price"],
    [{ maxLearningRate: 0n }, "max_learning_rate"],
    [{ feeDenom: "" }, "fee_denom"],
  ])("%o: invalid field %s", (change, field) => {
    expect(findParamsError({ ...PARAMS, ...change })?.field).toBe(field);
  });
});

describe("a disabled market", () => {
  const key = createTestKey("alice");
  const bob = createTestKey("bob").address;
  const params = messageToJson(
    "feemarket.feemarket.v1.Params",
    WireParams.encode(paramsToWire({ ...PARAMS, enabled: false })).finish(),
  );
  const minGasPrices = [
    { denom: "untrn", amount: parseDec18("0.0025") },
    { denom: "uatom", amount: parseDec18("0.5") },
  ];
  const start = (options: Partial<AppOptions> = {}) =>
    startTestChain(testGenesis([{ key, untrn: 1_000_000n }], { feemarket: { params } }), options);
  const tx = (amount: string, sequence = 0n) =>
    buildTx({
      key,
      messages: [sendMessage(key.address, bob, 1n)],
      sequence,
      fee: amount === "" ? [] : [{ denom: "untrn", amount }],
    });
  const balance = (chain: TestChain, address: string): string => {
    const data = QueryBalanceRequest.encode({ address, denom: "untrn" }).finish();
    const request = { path: "/cosmos.bank.v1beta1.Query/Balance", data, height: 0n, prove: false };
    return QueryBalanceResponse.decode(chain.app.query(request).value).balance?.amount ?? "";
  };
  const collector = formatAddress("neutron", moduleAddress("fee_collector"));

  it("takes what is offered for the fee collector, of whatever price", () => {
    const chain = start();
    const { txResults } = chain.block(tx("7"), tx("", 1n));
    expect(txResults.map(({ code }) => code)).toEqual([0, 0]);
    expect(balance(chain, collector)).toBe("7");
    expect(balance(chain, key.address)).toBe("999991");
    const paid = txResults.map(({ events }) =>
      events.find(({ type }) => type === "tx")?.attributes.map(({ value }) => value),
    );
    expect(paid).toEqual([
      ["7untrn", key.address],
      ["", key.address],
    ]);
    const tooMuch = chain.block(tx("2000000", 2n)).txResults[0];
    expect(tooMuch).toMatchObject({ codespace: "sdk", code: 5 });
  });

  it("asks for one of the node's prices in its mempool only", () => {
    const chain = start({ minGasPrices });
    expect(chain.app.checkTx(tx("499"), false)).toMatchObject({
      codespace: "sdk",
      code: 13,
      log: "insufficient fees; got: 499untrn required: 500untrn,100000uatom: insufficient fee",
    });
    expect(chain.app.checkTx(tx("500"), false).code).toBe(0);
    expect(chain.app.simulate(tx("", 1n)).code).toBe(0);
    expect(chain.block(tx("499")).txResults[0]?.code).toBe(0);
  });
});
