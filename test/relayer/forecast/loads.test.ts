import { describe, expect, it } from "vitest";
import { parseDec18 } from "../../../src/platform/base/decimal.ts";
import { portsAt } from "../../../src/platform/base/localnet-defaults.ts";
import { localnetRelayerConfig } from "../../../src/relayer/cli/relayer-config-options.ts";
import { createTransactionFee, loadOf, transactionFee } from "../../../src/relayer/forecast/loads.ts";
import { sampleState } from "../samples.ts";

const { config } = localnetRelayerConfig(portsAt(0), undefined);
const { query } = sampleState({ id: 1n, updatePeriod: 5n, registeredAtHeight: 10n });
const unknown = { blockMs: 1_000, remoteMs: 0 };

describe("the load of a query", () => {
  it("has no period for transactions, which come when they come", () => {
    expect(loadOf(query, config, unknown).updatePeriod).toBe(5n);
    expect(loadOf({ ...query, type: "tx" }, config, unknown).updatePeriod).toBeUndefined();
  });

  it("has at least the remote blocks that a next result needs, as far as both block times are known", () => {
    const slow = { queries: { ...config.queries, min_kv_update_period: 2n } };
    const period = (blockMs: number | undefined, remoteMs: number): bigint | undefined =>
      loadOf(query, slow, { blockMs, remoteMs }).updatePeriod;
    expect([period(1_000, 6_000), period(1_000, 1_000), period(1_000, 0), period(undefined, 6_000)]).toEqual([
      12n,
      5n,
      5n,
      5n,
    ]);
  });

  it("is as old as its registration; a query of the genesis was there from the beginning", () => {
    const age = (registeredAtHeight: bigint, height?: bigint): bigint | undefined =>
      loadOf({ ...query, registeredAtHeight }, config, { ...unknown, height }).ageBlocks;
    expect([age(10n, 25n), age(10n, 10n), age(0n, 25n), age(10n)]).toEqual([
      15n,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("uses what was learned, and without its callback never more than with it", () => {
    const learned = loadOf(query, config, { ...unknown, gas: 7n });
    expect([learned.gas, learned.gasWithoutCallback]).toEqual([7n, 7n]);
    const guessed = loadOf(query, config, unknown);
    expect(guessed.gas).toBeGreaterThanOrEqual(guessed.gasWithoutCallback);
  });
});

describe("the fee of a transaction", () => {
  const price = parseDec18("0.01");

  it("is for its results and the fixed gas, at the price with its margin, and no more than one can hold", () => {
    const fee = (results: readonly bigint[]): bigint => transactionFee(config, results, { price });
    // 223,500 gas with a client update and one result.
    expect(Number(fee([28_500n]))).toBeCloseTo(223_500 * 0.0105, 0);
    expect(Number(fee([10n ** 12n]))).toBeCloseTo(Number(config.batch.gas) * 0.0105, 0);
  });

  it("has a result of each KV query, and the configured price without a market", () => {
    const kv = loadOf(query, config, { ...unknown, gas: 28_500n });
    const tx = loadOf({ ...query, type: "tx" }, config, { ...unknown, gas: 90_000n });
    const loads = () => [kv, tx];
    const at = { price, feeFactor: undefined };
    expect(createTransactionFee(config, loads, () => at)()).toBe(transactionFee(config, [28_500n], at));
    expect(createTransactionFee(config, loads, () => undefined)()).toBe(
      transactionFee(config, [28_500n], { price: config.gas.fallback_price }),
    );
  });
});
