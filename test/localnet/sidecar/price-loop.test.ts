import { describe, expect, it } from "vitest";
import type { FaultName } from "../../../src/localnet/sidecar/faults.ts";
import { createProcessState, type ProcessState } from "../../../src/localnet/sidecar/sidecar.ts";
import { DEFAULT_MARKETS } from "../../../src/localnet/sidecar/markets.ts";
import { createPriceWalk } from "../../../src/localnet/sidecar/price-loop.ts";

const START = Date.UTC(2026, 10, 21);

function start(): ProcessState {
  return createProcessState({
    chainId: "local-1",
    markets: DEFAULT_MARKETS,
    seed: 7,
    maxPriceAgeMs: 120_000,
    missingPairs: ["TIA/USD"],
    metricNames: "connect",
    version: "",
  });
}

function run(state: ProcessState, ticks: number, from: number, ...faults: FaultName[]): number {
  for (let tick = 0; tick < ticks; tick++) state.tick(from + tick * 250, new Set(faults));
  return from + ticks * 250;
}

const pairsOf = (state: ProcessState): readonly string[] => [...state.loop.snapshot().prices.keys()];

describe("price walk", () => {
  it("depends on the seed only, and stays within 10 %", () => {
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
  it("has no price before the first tick, and all pairs in order after it", () => {
    const state = start();
    expect(state.loop.snapshot()).toEqual({ prices: new Map(), tickedAtMs: undefined });
    run(state, 1, START);
    expect(pairsOf(state)).toEqual(DEFAULT_MARKETS.map(({ pair }) => pair).toSorted());
    expect(state.loop.snapshot().tickedAtMs).toBe(START);
  });

  it("has no prices, or not those of the configured pairs, while a fault is on", () => {
    const state = start();
    let now = run(state, 4, START, "all-prices-missing");
    expect(pairsOf(state)).toEqual([]);
    expect(state.loop.snapshot().tickedAtMs).toBe(now - 250);
    now = run(state, 4, now, "pair-missing");
    expect(pairsOf(state)).toHaveLength(7);
    expect(pairsOf(state)).not.toContain("TIA/USD");
    run(state, 1, now);
    expect(pairsOf(state)).toHaveLength(8);
  });

  it("keeps prices for two minutes without WebSocket providers", () => {
    const state = start();
    let now = run(state, 1, START);
    now = run(state, 4 * 119, now, "websocket-providers-down");
    expect(pairsOf(state)).toHaveLength(8);
    now = run(state, 8, now, "websocket-providers-down");
    expect(pairsOf(state)).toEqual([]);
    run(state, 1, now);
    expect(pairsOf(state)).toHaveLength(8);
  });

  it("does not tick while the timestamp is stale", () => {
    const state = start();
    const now = run(state, 3, START);
    const before = state.loop.snapshot();
    run(state, 10, now, "timestamp-stale");
    expect(state.loop.snapshot()).toEqual(before);
    expect(state.sidecar.systemUpdates.write()).toContain("connect_health_check_system_updates_total 3\n");
  });

  it("goes without the major pairs, and without any market map", () => {
    const state = start();
    const now = run(state, 4, START, "major-pairs-missing");
    expect(pairsOf(state)).toEqual(["ATOM/USD", "DYDX/USD", "SOL/USD", "TIA/USD", "USDT/USD"]);
    const fresh = start();
    run(fresh, 4 * 25, now, "market-map-empty");
    expect(pairsOf(fresh)).toEqual([]);
    expect(fresh.loop.snapshot().tickedAtMs).toBeGreaterThan(now);
    expect(fresh.sidecar.providerStatus.write()).toContain(
      '{code="15",provider="marketmap_api",status="failure",type="api"} 3\n',
    );
    expect(fresh.sidecar.tickerUpdates.write()).toBe("");
  });

  it.each([
    { fault: "provider-rate-limited", code: "1", group: "4XX", status: "429", text: "rate limit exceeded" },
    { fault: "provider-blocked", code: "451", group: "4XX", status: "451", text: "unknown error" },
    { fault: "provider-no-response", code: "7", group: "5XX", status: "500", text: "got no response" },
    { fault: "provider-invalid-response", code: "8", group: "2XX", status: "200", text: "invalid response" },
  ] as const)(
    "$fault fails kraken_api with code $code and loses no pair",
    ({ fault, code, group, status, text }) => {
      const provider = "kraken_api";
      const state = start();
      const now = run(state, 1, START);
      run(state, 4 * 130, now, fault);
      expect(pairsOf(state)).toHaveLength(8);
      const page = state.sidecar;
      expect(page.providerStatus.write()).toContain(
        `{code="${code}",provider="${provider}",status="failure",type="api"} ${4 * 130 * 8}\n`,
      );
      expect(page.apiHttpStatus.write()).toContain(`status_code="${group}",status_code_exact="${status}"}`);
      expect(page.apiInternalStatus.write()).toContain(`internal_status="${text}"`);
      expect(page.providerUpdates.write()).toContain(`id="btc/usd",provider="${provider}",success="false"`);
    },
  );

  it("cannot decode the messages of one provider, over a healthy connection", () => {
    const state = start();
    const now = run(state, 1, START);
    run(state, 4 * 130, now, "provider-decode-error");
    expect(pairsOf(state)).toHaveLength(8);
    expect(state.sidecar.providerStatus.write()).toContain('{code="12",provider="okx_ws",status="failure"');
    expect(state.sidecar.dataHandlerStatus.write()).toContain(
      '{provider="okx_ws",status="handle_message_err"} 520\n',
    );
    expect(state.sidecar.connectionStatus.write()).not.toContain("unhealthy");
  });

  it("loses one WebSocket again and again, and no pair", () => {
    const state = start();
    run(state, 4 * 120, START, "websocket-flap");
    expect(pairsOf(state)).toHaveLength(8);
    const page = state.sidecar.connectionStatus.write();
    expect(page).toContain('{provider="binance_ws",status="healthy"} 4\n');
    expect(page).toContain('{provider="binance_ws",status="read_err"} 400\n');
    expect(page).not.toContain('{provider="okx_ws",status="unhealthy"}');
  });

  it("dials a lost WebSocket provider every ten seconds", () => {
    const state = start();
    const now = run(state, 1, START);
    run(state, 4 * 60, now, "websocket-providers-down");
    const page = state.sidecar.connectionStatus.write();
    expect(page).toContain('{provider="okx_ws",status="dial_err"} 6\n');
    expect(page).toContain('{provider="okx_ws",status="read_err"} 100\n');
    expect(page).toContain('{provider="okx_ws",status="read_success"} 1\n');
    expect(state.sidecar.providerStatus.write()).toContain(
      '{code="5",provider="okx_ws",status="failure",type="websockets"} 48\n',
    );
  });
});
