import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ClientError } from "../../../src/cosmos/client-error.ts";
import { QueryDenomMetadataResponse } from "../../../src/cosmos/proto/gen/cosmos/bank/v1beta1/query.ts";
import { parseDec18 } from "../../../src/platform/base/decimal.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import type { RelayerConfig } from "../../../src/relayer/config/relayer-config.ts";
import { relayerConfigSchema } from "../../../src/relayer/config/relayer-config.ts";
import { createCostLedger } from "../../../src/relayer/costs/cost-ledger.ts";
import { createCosts, type CostsDeps } from "../../../src/relayer/costs/create-costs.ts";
import type { RelayerStore } from "../../../src/relayer/state/store.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { openTestStore } from "../../support/relayer-store.ts";
import { sampleMarket, sampleMarketWithoutCapacity } from "../status-samples.ts";

/** 2027-01-15T08:00:00Z */
const START = 1_800_000_000_000;
const METADATA = QueryDenomMetadataResponse.encode({
  metadata: {
    description: "",
    base: "untrn",
    display: "ntrn",
    name: "",
    symbol: "NTRN",
    uri: "",
    uriHash: "",
    denomUnits: [
      { denom: "untrn", exponent: 0, aliases: [] },
      { denom: "ntrn", exponent: 6, aliases: [] },
    ],
  },
}).finish();

const OLD_QUERY = {
  id: 1n,
  owner: "neutron1owner",
  queries: 1,
  updatePeriod: 60n,
  ageBlocks: BigInt(50 * 3_600),
  gas: 40_000n,
  gasWithoutCallback: 40_000n,
};

let folder = "";
let store: RelayerStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "relaywatch-costs-"));
  store = await openTestStore(folder);
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

function configOf(more: object = {}): RelayerConfig {
  return relayerConfigSchema({ environment: () => "twelve words", file: () => "" }).parse({
    chain: { id: "local-1", rpc: ["http://127.0.0.1:1"] },
    signer: { mnemonic: { env: "M" } },
    connections: [{ id: "connection-0", chain_id: "remote-1", rpc: ["http://127.0.0.1:1"] }],
    ...more,
  });
}

async function setUp(config: RelayerConfig, asked: string[] = [], more: Partial<CostsDeps> = {}) {
  const clock = createManualClock(START);
  const ledger = createCostLedger({
    chainId: "local-1",
    payer: "neutron1payer",
    store,
    sharing: () => [],
    nowMs: clock.nowMs,
  });
  ledger.begin(5n);
  for (let minute = 0; minute < 120; minute++) {
    ledger.record({
      hash: `AB${minute}`,
      height: BigInt(minute),
      fee: 100n,
      gasUsed: 40_000n,
      isFailed: false,
      results: [{ queryId: 1n, owner: "neutron1owner", connectionId: "connection-0", gas: 1n }],
      updates: [],
    });
    await clock.advance(60_000);
  }
  await store.queue.flushed(new AbortController().signal);
  let error: Error | undefined;
  const costs = createCosts(config, {
    ledger: {
      ...ledger,
      byQuery: async (...range) => {
        if (error !== undefined) throw error;
        return ledger.byQuery(...range);
      },
    },
    client: {
      grpcQuery: async (path) => {
        asked.push(path);
        if (path.endsWith("DenomMetadata")) return METADATA;
        throw new ClientError({ code: "closed" }, "closed");
      },
    },
    payer: () => ({
      address: "neutron1payer",
      signer: "neutron1signer",
      balance: 1_000_000n,
      reserve: 400_000n,
    }),
    loads: () => [OLD_QUERY],
    blockMs: () => 1_000,
    market: () => sampleMarket(),
    runs: () => [{ fromMs: START, untilMs: clock.nowMs() }],
    clock,
    logger: silentLogger,
    ...more,
  });
  const stop = new AbortController();
  const running = costs.service.run(stop.signal);
  await clock.advance(15_000);
  const end = async (): Promise<void> => {
    stop.abort();
    await clock.advance(5_000);
    await running;
  };
  return { costs, clock, end, fail: (thrown: Error | undefined) => void (error = thrown) };
}

describe("the costs of a relayer", () => {
  it("read all windows, the unit of the chain, and forecast from what was measured", async () => {
    const { costs, end } = await setUp(configOf());
    const view = costs.view();
    await end();
    expect(view.unit).toEqual({ denom: "untrn", name: "NTRN", exponent: 6, price: undefined });
    expect(view.sinceMs).toBe(START);
    expect(view.windows.map(({ name, fee }) => [name, fee])).toEqual([
      ["1h", 5_500n],
      ["24h", 12_000n],
      ["7d", 12_000n],
      ["30d", 12_000n],
      ["month", 12_000n],
    ]);
    for (const { coveredFromMs, fromMs } of view.windows) expect(coveredFromMs).toBe(Math.max(fromMs, START));
    // 40,000 gas a minute for two hours; the price and factor of the market.
    const { price, feeFactor } = sampleMarket();
    const perDay = (40_000 * 1_440 * Number(price) * Number(feeFactor)) / 1e36;
    expect(Number(view.forecast?.perDay.now.expected)).toBeCloseTo(perDay, -3);
    // What may be spent is the balance without its reserve.
    const empty = view.forecast?.empty.now?.expectedMs ?? 0;
    expect(empty / 86_400_000).toBeCloseTo(600_000 / Number(view.forecast?.perDay.now.expected), 5);
    expect(view.incomplete).toBeUndefined();
  });

  it("forecast with the price that was paid while the market is not current, at gas.max_price not below it", async () => {
    const market = () => sampleMarket({ sinceReadMs: 61_000, cap: parseDec18("0.001") });
    const { costs, end } = await setUp(configOf(), [], { market });
    const perDay = costs.view().forecast?.perDay;
    await end();
    // 100 untrn for 40,000 gas.
    expect(Number(perDay?.now.expected)).toBeCloseTo(40_000 * 1_440 * 0.0025, -3);
    expect(perDay?.cap).toEqual(perDay?.now);
  });

  it("forecast the results of a new query as late as the market makes them", async () => {
    const market = () => sampleMarketWithoutCapacity();
    const loads = () => [OLD_QUERY, { ...OLD_QUERY, id: 2n, ageBlocks: 60n }];
    const of = async (more: Partial<CostsDeps>): Promise<number> => {
      const { costs, end } = await setUp(configOf(), [], more);
      const expected = Number(costs.view().forecast?.perDay.now.expected);
      await end();
      return expected;
    };
    const added = (await of({ market, loads })) - (await of({ market }));
    const { price, feeFactor, forecast } = market();
    const perDay = (40_000 * 86_400 * Number(price) * Number(feeFactor)) / 1e36;
    expect(added / (perDay / (60 + forecast.lateBlocks))).toBeCloseTo(1, 3);
  });

  it("take unit, price and budget from the configuration, without a question to the chain", async () => {
    const asked: string[] = [];
    const config = configOf({
      gas: { display: { unit: "TRN", exponent: 3 }, value: { currency: "EUR", price: "2" } },
      spending: { budget: "1.5 TRN" },
    });
    const { costs, end } = await setUp(config, asked);
    const { unit, budget } = costs.view();
    await end();
    expect([unit?.name, unit?.exponent, unit?.price?.currency, budget]).toEqual(["TRN", 3, "EUR", 1_500n]);
    expect(asked.filter((path) => path.endsWith("DenomMetadata"))).toEqual([]);
  });

  it("say when the sums cannot be read, and keep the last ones with their time", async () => {
    const { costs, clock, end, fail } = await setUp(configOf());
    const before = costs.view();
    fail(new Error("database is locked"));
    await clock.advance(30_000);
    const after = costs.view();
    expect(after.incomplete).toBe("cannot read the costs: database is locked");
    expect([after.readAtMs, after.windows]).toEqual([before.readAtMs, before.windows]);
    fail(undefined);
    costs.recordIncomplete("no index");
    await clock.advance(30_000);
    expect(costs.view().incomplete).toBe("no index");
    await end();
  });

  it("do not know what is left while a fee grant cannot be read", async () => {
    const granter = "neutron18zawa74y4xv6xg3zv0cstmfl9y38ecurjkvqct";
    const { costs, end } = await setUp(
      configOf({ signer: { mnemonic: { env: "M" }, fee_granter: granter } }),
    );
    const { payer, forecast } = costs.view();
    await end();
    expect(payer.grant).toEqual({ allowance: undefined, isRead: false, error: "closed" });
    expect(forecast?.empty.now).toBeUndefined();
  });
});
