import { describe, expect, it } from "vitest";
import type { FaultName } from "../../../src/sidecar/faults.ts";
import { createLife, type Life } from "../../../src/sidecar/process-state.ts";
import { DEFAULT_MARKETS } from "../../../src/sidecar/markets.ts";
import { createPriceWalk } from "../../../src/sidecar/price-walk.ts";

const START = Date.UTC(2026, 10, 21);

function begin(): Life {
  return createLife({
    chainId: "local-1",
    markets: DEFAULT_MARKETS,
    seed: 7,
    maxPriceAgeMs: 120_000,
    missingPairs: ["TIA/USD"],
    metricNames: "connect",
    version: "",
  });
}

function run(life: Life, ticks: number, from: number, ...faults: FaultName[]): number {
  for (let tick = 0; tick < ticks; tick++) life.tick(from + tick * 250, new Set(faults));
  return from + ticks * 250;
}

const pairsOf = (life: Life): readonly string[] => [...life.loop.snapshot().prices.keys()];

describe("price walk", () => {
  it("is the same for the same seed, another for another, and stays within 10 %", () => {
    const [a, b, c] = [
      createPriceWalk(DEFAULT_MARKETS, 1),
      createPriceWalk(DEFAULT_MARKETS, 1),
      createPriceWalk(DEFAULT_MARKETS, 2),
    ];
    for (let step = 0; step < 5000; step++) {
      for (const walk of [a, b, c]) walk.step();
      for (const { pair, startPrice } of DEFAULT_MARKETS) {
        const price = a.price(pair) ?? 0n;
        expect(price * 10n >= startPrice * 9n && price * 10n <= startPrice * 11n).toBe(true);
      }
    }
    const all = (walk: typeof a) => DEFAULT_MARKETS.map(({ pair }) => walk.price(pair));
    expect(all(a)).toEqual(all(b));
    expect(all(a)).not.toEqual(all(c));
    expect(all(a)).not.toEqual(DEFAULT_MARKETS.map(({ startPrice }) => startPrice));
  });
});

describe("price loop", () => {
  it("has nothing before the first tick and all pairs, in order, after it", () => {
    const life = begin();
    expect(life.loop.snapshot()).toEqual({ prices: new Map(), tickedAtMs: undefined });
    run(life, 1, START);
    expect(pairsOf(life)).toEqual(DEFAULT_MARKETS.map(({ pair }) => pair).toSorted());
    expect(life.loop.snapshot().tickedAtMs).toBe(START);
  });

  it("loses all prices or the named pairs, with a fresh timestamp, and gets them back", () => {
    const life = begin();
    let now = run(life, 4, START, "all-prices-missing");
    expect(pairsOf(life)).toEqual([]);
    expect(life.loop.snapshot().tickedAtMs).toBe(now - 250);
    now = run(life, 4, now, "pair-missing");
    expect(pairsOf(life)).toHaveLength(7);
    expect(pairsOf(life)).not.toContain("TIA/USD");
    run(life, 1, now);
    expect(pairsOf(life)).toHaveLength(8);
  });

  it("keeps prices for two minutes without WebSocket providers, then has none", () => {
    const life = begin();
    let now = run(life, 1, START);
    now = run(life, 4 * 119, now, "websocket-providers-down");
    expect(pairsOf(life)).toHaveLength(8);
    now = run(life, 8, now, "websocket-providers-down");
    expect(pairsOf(life)).toEqual([]);
    run(life, 1, now);
    expect(pairsOf(life)).toHaveLength(8);
  });

  it("stands still while the timestamp is stale", () => {
    const life = begin();
    const now = run(life, 3, START);
    const before = life.loop.snapshot();
    run(life, 10, now, "timestamp-stale");
    expect(life.loop.snapshot()).toEqual(before);
    expect(life.sidecar.systemUpdates.write()).toContain("connect_health_check_system_updates_total 3\n");
  });

  it("dials a lost WebSocket provider every ten seconds", () => {
    const life = begin();
    const now = run(life, 1, START);
    run(life, 4 * 60, now, "websocket-providers-down");
    const page = life.sidecar.connectionStatus.write();
    expect(page).toContain('{provider="okx_ws",status="dial_err"} 6\n');
    expect(page).toContain('{provider="okx_ws",status="read_err"} 1\n');
    expect(page).toContain('{provider="okx_ws",status="read_success"} 1\n');
    expect(life.sidecar.providerStatus.write()).toContain(
      '{code="5",provider="okx_ws",status="failure",type="websockets"} 48\n',
    );
  });
});
