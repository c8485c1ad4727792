import { parsePrometheusText } from "../../support/watchdog/prometheus-page.ts";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { countObservation, EMPTY_LEDGER } from "../../../src/watchdog/ledger/ledger.ts";
import { formatPercent, successRate, tierOf } from "../../../src/watchdog/policy/reward-tier.ts";
import { bestPairOf, isNodeSample, toNodeReading } from "../../../src/watchdog/sources/node-reading.ts";
import {
  parsePrices,
  toOracleReading,
  toSidecarReading,
} from "../../../src/watchdog/sources/sidecar-reading.ts";
import { countsOf, observationOf, up } from "../../support/watchdog/observations.ts";
import { SourceError } from "../../../src/watchdog/sources/observation.ts";

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
    expect(toNodeReading(samplesOf(path))).toMatchObject({
      chainId: "test-1",
      success,
      failure,
      height,
      processStartMs: START,
      version: "go1.23.12",
    });
  });

  it("say the same in the namespace of [instrumentation]", () => {
    const page = text("metrics/node-26660-healthy.prom");
    const readingOf = (prom: string) => {
      const { samples } = parsePrometheusText(Buffer.from(prom));
      return toNodeReading(samples.filter((sample) => isNodeSample(sample)));
    };
    const usual = readingOf(page);
    expect(usual).toMatchObject({ height: 1092n, votingPower: expect.anything() });
    expect(page).toContain("\ncometbft_consensus_height");
    for (const namespace of ["tendermint", "val_1"])
      expect(readingOf(page.replaceAll(/^cometbft_/gm, `${namespace}_`))).toEqual(usual);
  });

  it("of several chains are read for the one that is selected, and for none without a selection", () => {
    const samples = samplesOf("metrics/node-26660-healthy.prom");
    const both = samples.flatMap((sample) =>
      sample.labels.has("chain_id")
        ? [sample, { ...sample, labels: new Map([...sample.labels, ["chain_id", "other-1"]]), value: 7 }]
        : [sample],
    );
    expect(toNodeReading(both, { chainId: "test-1" })).toEqual(toNodeReading(samples));
    expect(() => toNodeReading(both)).toThrow(
      "the page contains several chains (test-1, other-1); select one with chain_id",
    );
    expect(() => toNodeReading(both, { chainId: "third-1" })).toThrow(
      "the node is on chain test-1, other-1, expected third-1",
    );
  });

  it("have the version of the program where the page has one, and never a long one", () => {
    const page = parsePrometheusText(
      Buffer.from(
        [
          'app_oracle_responses{chain_id="c",status="Success"} 1',
          'neutron_server_info{go="go1.23",version="v0.50.15"} 1',
          'app_build_info{version="v9.1.3"} 1',
          'go_info{version="go1.23"} 1',
          `other_build_info{version="${"x".repeat(61)}"} 1`,
          'provider_info{version="v1"} 1',
          "",
        ].join("\n"),
      ),
    );
    expect(toNodeReading(page.samples.filter((sample) => isNodeSample(sample))).version).toBe(
      "v9.1.3, v0.50.15, go1.23",
    );
  });

  it("give every block since the start of the node, those of the outage as bad, none as unknown", () => {
    const pages = ["healthy", "sidecar-down", "after-restart-of-sidecar"];
    const atMs = START + 1_200_000;
    let ledger = EMPTY_LEDGER;
    const restarts: boolean[] = [];
    for (const [index, name] of pages.entries()) {
      const metrics = up(toNodeReading(samplesOf(`metrics/node-26660-${name}.prom`)));
      const observation = observationOf(atMs + index * 30_000, [{ metrics }]);
      const counted = countObservation(ledger, observation, { intervalMs: 30_000 });
      ledger = counted.ledger;
      restarts.push(...counted.steps.map(({ step }) => step.restarted));
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
        toNodeReading(samplesOf(path), { chainId: chain });
      } catch (thrown) {
        if (thrown instanceof SourceError) return `${thrown.facts.code}: ${thrown.message}`;
      }
      return "no error";
    };
    expect(error("metrics/sidecar-8002.prom")).toMatch(/^not-a-node: the page has no node metrics/);
    expect(error("metrics/node-26660-healthy.prom", "neutron-1")).toBe(
      "wrong-chain: the node is on chain test-1, expected neutron-1; check sources.node and chain_id",
    );
  });
});

describe("what else a node's page says", () => {
  const OWN = "neutronvalcons16jsxy6n6x6xxkkdx2whumthegrfklpw7y5klld";
  const page = (name: string) =>
    toNodeReading(samplesOf(`metrics/node-26660-${name}.prom`), { consensusAddress: OWN });

  it("is the validator's power, its calls by status, and their duration", () => {
    const { votingPower, lastSignedHeight, isSyncing, peers, extendVotes, oracleLatency } =
      page("after-restart-of-sidecar");
    expect([votingPower, lastSignedHeight, isSyncing, peers]).toEqual([100n, 1134n, undefined, undefined]);
    expect(extendVotes).toEqual(
      new Map([
        ["OracleClientError", 22n],
        ["PreBlockError", 1n],
        ["Success", 1111n],
      ]),
    );
    expect(oracleLatency).toMatchObject({ count: 1133n, sum: 14_896 });
    // The first 8 failures, while the sidecar drained, came at once; the 14 others are above the last bound.
    expect(oracleLatency?.buckets.get(512)).toBe(1119n);
  });

  it("is the votes of all validators for one pair, where one is chosen", () => {
    const samples = samplesOf("metrics/node-26660-healthy.prom");
    expect(bestPairOf(samples, OWN)).toBe("atom/usd");
    expect(bestPairOf(samples, "neutronvalcons1other")).toBeUndefined();
    const wanted = samples.filter((sample) => isNodeSample(sample, OWN, "atom/usd"));
    // One line of the other validator, which has one for each of its pairs.
    const own = samples.filter((sample) => isNodeSample(sample, OWN));
    expect(wanted.length - own.length).toBe(1);
    const { votes, reports } = toNodeReading(wanted, { consensusAddress: OWN, pair: "atom/usd" });
    // The other one left the set after 101 blocks without its vote.
    expect(votes).toEqual({
      pair: "atom/usd",
      byValidator: new Map([
        [
          "neutronvalcons180garstngpxj6r4nmh0vgre9m7qs0ngzq3yv2s",
          { withPrice: 0n, absent: 101n, total: 101n },
        ],
        [OWN, reports?.get(OWN)],
      ]),
    });
  });

  it("is the validator's votes in the blocks, and nothing of other validators", () => {
    expect(page("after-restart-of-sidecar").reports).toEqual(
      new Map([[OWN, { withPrice: 1110n, absent: 0n, total: 1133n }]]),
    );
    const other = { consensusAddress: "neutronvalcons1other" };
    expect(toNodeReading(samplesOf("metrics/node-26660-healthy.prom"), other).reports).toBeUndefined();
    const samples = samplesOf("metrics/node-26660-healthy.prom").filter((sample) =>
      isNodeSample(sample, OWN),
    );
    expect(samples.length).toBeLessThan(80);
    expect(toNodeReading(samples, { consensusAddress: OWN })).toEqual(page("healthy"));
  });
});

describe("oracle and sidecar metrics pages", () => {
  it.each([
    ["metrics/sidecar-8002.prom", "sidecar"],
    ["samples/oracle-8001.prom", "oracle"],
    ["samples/sidecar-8002.spec-connect-prefix.prom", "sidecar"],
  ])("%s: %s", (path, kind) => {
    expect(toOracleReading(samplesOf(path))).toEqual({ kind });
  });

  it("say which pairs have prices, and how the providers do", () => {
    const { systemUpdates, tickerUpdates, marketProviders, providers, version, processStartMs } =
      toSidecarReading(samplesOf("metrics/sidecar-8002.prom"));
    expect([systemUpdates, tickerUpdates.get("BTC/USD"), tickerUpdates.has("DOGE/USD")]).toEqual([
      47n,
      47n,
      false,
    ]);
    expect([marketProviders.get("DOGE/USD"), marketProviders.get("BTC/USD")]).toEqual([0, 1]);
    expect([version, processStartMs]).toEqual(["", 1_795_263_527_030]);
    expect(providers.get("binance_ws")).toEqual({
      type: "websockets",
      responses: 6n,
      failures: new Map([["5", 6n]]),
      webSocket: new Map([
        ["dial_err", 2n],
        ["unhealthy", 2n],
      ]),
    });
    expect(providers.get("marketmap_api")).toMatchObject({
      type: "api",
      responses: 2n,
      failures: new Map(),
      responseTime: { count: 2n, sum: 7 },
    });
  });

  it("are not those of a node", () => {
    expect(() => toSidecarReading(samplesOf("metrics/node-26660-healthy.prom"))).toThrow(
      /no metrics of a price sidecar/,
    );
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
    ["<html>", /HTML instead of prices/],
    ["[]", /expected a JSON object/],
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
