import { describe, expect, it } from "vitest";
import { defaultParams } from "../../../src/localnet/chain/modules/feemarket/module.ts";
import { parseDec18 } from "../../../src/platform/base/decimal.ts";
import { portsAt } from "../../../src/platform/base/localnet-defaults.ts";
import { localnetRelayerConfig } from "../../../src/relayer/cli/relayer-config-options.ts";
import { createHeadWatch } from "../../../src/relayer/watch/head-watch.ts";
import { createLoads, createMarketView, createTransactionFee } from "../../../src/relayer/forecast/loads.ts";
import {
  answered,
  handedOver,
  type QueryState,
  unchangedBy,
} from "../../../src/relayer/registry/query-state.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { sampleState } from "../samples.ts";
import { sampleMarket } from "../status-samples.ts";

const remote = (height: bigint) => ({ revision: 1n, height });

/** A query of period 2. */
function answeredState(id: bigint): QueryState {
  const sent = handedOver(sampleState({ id, updatePeriod: 2n }), { at: remote(5n), hash: "a" });
  return answered(sent, { localHeight: 10n, remote: remote(5n) });
}

/** The market with these queries in a chain with blocks of one second, and the fee of a transaction. */
async function viewOf(states: readonly QueryState[], feeFactor: bigint | undefined) {
  const clock = createManualClock(0);
  const local = createHeadWatch(clock, () => 0n);
  for (const latestHeight of [1n, 2n, 3n]) {
    await clock.advance(1_000);
    local.record({ latestHeight, latestTimeNs: 0n });
  }
  const { forecast: _forecast, sinceReadMs, ...sample } = sampleMarket();
  const market = { ...sample, feeFactor };
  const config = localnetRelayerConfig(portsAt(0), undefined).config;
  const status = () => ({ ...market, readAtMs: clock.monotonicMs() - sinceReadMs });
  const loads = createLoads(config, {
    gasOf: () => 28_500n,
    registry: { states: () => states },
    watches: { local, connections: [] },
    localHeight: () => 3n,
  });
  const deps = {
    market: { status, params: () => defaultParams("untrn") },
    loads,
    blockMs: () => local.view().blockMs,
    clock,
  };
  return {
    market: createMarketView(config, deps)(),
    transactionFee: createTransactionFee(config, loads, status)(),
  };
}

const demandOf = async (states: readonly QueryState[]): Promise<number | undefined> =>
  (await viewOf(states, undefined)).market?.forecast.demandResults;

describe("the forecast of a running relayer", () => {
  it("counts a query with unchanged values by the results that it still gets", async () => {
    const states = [1n, 2n, 3n].map(answeredState);
    expect(await demandOf(states)).toBeCloseTo(3 / 2);
    const read = { at: remote(7n), hash: "a", localHeight: 12n, maxAge: 20n };
    const unchanged = states.slice(1).flatMap((state) => unchangedBy(state, read) ?? []);
    expect(await demandOf([...states.slice(0, 1), ...unchanged])).toBeCloseTo(1 / 2 + 2 / 20);
  });

  it("costs what was paid for gas in the last blocks, and 1.05 × the price while nothing was", async () => {
    const states = [answeredState(1n)];
    const [usual, measured] = [await viewOf(states, undefined), await viewOf(states, parseDec18("1.26"))];
    const views = [usual, measured];
    expect(views.map(({ market }) => market?.feeFactor)).toEqual([parseDec18("1.05"), parseDec18("1.26")]);
    const costs = views.map(({ market }) => Number(market?.forecast.costPerDay));
    // Gas of 28,500 and of half a transaction, in each second block.
    expect(costs[0]).toBeCloseTo((28_500 / 2 + 195_000 / 2) * 0.0025 * 86_400 * 1.05, -1);
    expect((costs[1] ?? 0) / (costs[0] ?? 0)).toBeCloseTo(1.2, 4);
    // At the current price, for a transaction with the result.
    const fees = views.map(({ transactionFee }) => Number(transactionFee) / (223_500 * 0.0026));
    expect(fees).toEqual([expect.closeTo(1.05, 2), expect.closeTo(1.26, 2)]);
  });
});
