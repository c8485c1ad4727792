import { parsePrometheusText } from "../../support/watchdog/prometheus-page.ts";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { countReading, countsOf, EMPTY_LEDGER } from "../../../src/watchdog/ledger/ledger.ts";
import { formatPercent, successRate, tierOf } from "../../../src/watchdog/policy/reward-tier.ts";
import { toNodeReading } from "../../../src/watchdog/sources/node-reading.ts";
import { parsePrices } from "../../../src/watchdog/sources/prices-reading.ts";
import { toOracleMetricsReading } from "../../../src/watchdog/sources/oracle-metrics-reading.ts";
import { SourceError } from "../../../src/watchdog/sources/source-failure.ts";

const read = (path: string): Uint8Array => readFileSync(new URL(`../../fixtures/${path}`, import.meta.url));
const samplesOf = (path: string) => parsePrometheusText(read(path)).samples;
const text = (path: string): string => Buffer.from(read(path)).toString("utf8");

describe("recorded node pages", () => {
  const START = 1_795_262_370_310;

  it.each([
    ["metrics/node-26660-healthy.prom", 1091n, 0n, 1092n],
    ["metrics/node-26660-sidecar-down.prom", 1110n, 16n, 1127n],
    ["metrics/node-26660-after-restart-of-sidecar.prom", 1111n, 22n, 1134n],
  ])("%s", (path, success, failure, height) => {
    expect(toNodeReading(samplesOf(path))).toEqual({
      chainId: "test-1",
      success,
      failure,
      height,
      processStartMs: START,
    });
  });

  it("give every block since the start of the node, those of the outage as bad, none as unknown", () => {
    const pages = ["healthy", "sidecar-down", "after-restart-of-sidecar"];
    const atMs = START + 1_200_000;
    let ledger = EMPTY_LEDGER;
    const restarts: boolean[] = [];
    for (const [index, name] of pages.entries()) {
      const counted = countReading(
        ledger,
        toNodeReading(samplesOf(`metrics/node-26660-${name}.prom`)),
        atMs + index * 30_000,
      );
      ledger = counted.ledger;
      restarts.push(counted.step?.restarted ?? true);
    }
    const counts = countsOf(ledger, "2026-11");
    expect(counts).toEqual({ good: 1111n, bad: 22n, unknown: 0n });
    expect(restarts).toEqual([false, false, false]);
    const rate = successRate(counts);
    expect(rate).toBeDefined();
    if (rate !== undefined) expect([formatPercent(rate), tierOf(rate)]).toEqual(["98.0582", "full"]);
  });

  it("include the constructed samples", () => {
    expect(toNodeReading(samplesOf("samples/node-26660.prom"))).toMatchObject({
      chainId: "neutron-1",
      success: 15_847n,
      failure: 42n,
    });
  });

  it("fail for a page of another program, and for a node on another chain", () => {
    const error = (path: string, chain?: string): string => {
      try {
        toNodeReading(samplesOf(path), chain);
      } catch (thrown) {
        if (thrown instanceof SourceError) return `${thrown.facts.code}: ${thrown.message}`;
      }
      return "no error";
    };
    expect(error("metrics/sidecar-8002.prom")).toMatch(/^not-a-node: the page has no node metrics/);
    expect(error("metrics/node-26660-healthy.prom", "neutron-1")).toBe(
      "wrong-chain: the node is on chain test-1, not on neutron-1; check sources.node and chain_id",
    );
  });
});

describe("oracle and sidecar metrics pages", () => {
  it.each([
    ["metrics/sidecar-8002.prom", { kind: "sidecar", systemUpdates: 47, tickerUpdates: 8 * 47 }],
    ["samples/oracle-8001.prom", { kind: "oracle", responses: 15_889 }],
    [
      "samples/sidecar-8002.spec-connect-prefix.prom",
      { kind: "sidecar", systemUpdates: 0, tickerUpdates: 0 },
    ],
  ])("%s", (path, expected) => {
    expect(toOracleMetricsReading(samplesOf(path))).toEqual(expected);
  });
});

describe("price responses", () => {
  const body = (path: string): string => text(path).split(/\r?\n\r?\n/)[1] ?? "";
  const URL_V1 = "http://h/slinky/oracle/v1/prices";

  it("include the recorded response", () => {
    const prices = parsePrices(body("metrics/prices-v1.http"), URL_V1);
    expect(prices.pairs).toEqual([
      "ATOM/USD",
      "BTC/USD",
      "DYDX/USD",
      "ETH/USD",
      "NTRN/USD",
      "SOL/USD",
      "TIA/USD",
      "USDT/USD",
    ]);
    expect(prices.tickedAtMs).toBe(Date.UTC(2026, 10, 21, 12, 18, 59, 70));
  });

  it("include the samples: a full response, and one before the first update", () => {
    expect(parsePrices(text("samples/prices.json"), URL_V1)).toMatchObject({ version: "v1.2.2" });
    expect(parsePrices(text("samples/prices.json"), URL_V1).pairs).toHaveLength(8);
    expect(parsePrices(text("samples/prices-startup.json"), URL_V1)).toMatchObject({
      pairs: [],
      tickedAtMs: undefined,
    });
  });

  it.each([
    ["<html>", /HTML, not prices/],
    ["[]", /not a JSON object/],
    ["{", /does not come from a price sidecar/],
    ['{"prices":{}}', /timestamp is not present/],
    ['{"prices":{},"timestamp":"soon"}', /timestamp is not an RFC 3339 time/],
  ])("are rejected: %s", (given, message) => {
    expect(() => parsePrices(given, URL_V1)).toThrow(message);
  });

  it("have a price only where the value is a positive integer", () => {
    const prices = { "A/USD": "0", "B/USD": "", "C/USD": 5, "D/USD": "-1", "E/USD": "1.5", "F/USD": "007" };
    expect(parsePrices(JSON.stringify({ prices, timestamp: "2026-11-21T00:00:00Z" }), URL_V1).pairs).toEqual([
      "F/USD",
    ]);
  });
});
