import { parsePrometheusText } from "../../support/watchdog/prometheus-page.ts";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { FaultName } from "../../../src/localnet/sidecar/faults.ts";
import {
  writeExposition,
  type MetricNames,
  pageFamilies,
} from "../../../src/localnet/sidecar/sidecar-families.ts";
import { createProcessState } from "../../../src/localnet/sidecar/sidecar.ts";
import { DEFAULT_MARKETS } from "../../../src/localnet/sidecar/markets.ts";

const read = (path: string): string =>
  readFileSync(new URL(`../../fixtures/${path}`, import.meta.url), "utf8");

/** Pages after one good tick and one without WebSocket providers, so that every family has a series. */
function pageOf(metricNames: MetricNames): { readonly sidecar: string; readonly oracle: string } {
  const state = createProcessState({
    chainId: "test-1",
    markets: DEFAULT_MARKETS,
    seed: 1,
    maxPriceAgeMs: 120_000,
    missingPairs: [],
    metricNames,
    version: "",
  });
  state.tick(Date.UTC(2026, 10, 21), new Set<FaultName>());
  state.tick(Date.UTC(2026, 10, 21) + 250, new Set<FaultName>(["websocket-providers-down"]));
  state.oracle.responses.add({ chain_id: "test-1", status: "Success" });
  state.oracle.latency.observe({ chain_id: "test-1" }, 3);
  return {
    sidecar: writeExposition(pageFamilies(state.sidecar, metricNames)),
    oracle: writeExposition(Object.values(state.oracle)),
  };
}

const headLines = (page: string): readonly string[] =>
  page.split("\n").filter((line) => line.startsWith("# "));

/** Label names by series name. */
function labelNames(page: string): ReadonlyMap<string, string> {
  const { samples } = parsePrometheusText(new TextEncoder().encode(page));
  return new Map(samples.map(({ name, labels }) => [name, [...labels.keys()].join()]));
}

describe("sidecar metrics under deployed names", () => {
  const recorded = `${read("metrics/sidecar-8002.prom")}\n${read("samples/sidecar-8002.prom")}`;
  const { sidecar } = pageOf("side_car");

  it("have the recorded help and type lines", () => {
    const lines = headLines(sidecar);
    expect(lines.length).toBeGreaterThan(0);
    const known = new Set(headLines(recorded));
    expect(lines.filter((line) => !known.has(line))).toEqual([]);
  });

  it("have the recorded label names, in the recorded order", () => {
    const known = labelNames(recorded);
    const ours = labelNames(sidecar);
    expect(ours.size).toBeGreaterThan(0);
    for (const [name, names] of ours) expect([name, names]).toEqual([name, known.get(name)]);
  });
});

describe("sidecar metrics under the specification's names", () => {
  it("all begin with connect_ and have the provider query duration histogram", () => {
    const page = parsePrometheusText(new TextEncoder().encode(pageOf("connect").sidecar));
    expect(page.samples.length).toBeGreaterThan(100);
    expect(page.samples.filter(({ name }) => !name.startsWith("connect_"))).toEqual([]);
    expect(page.types.get("connect_provider_query_duration_seconds")).toBe("histogram");
    expect(page.types.size).toBeGreaterThan(0);
  });
});

describe("oracle metrics", () => {
  it("have the help, types and labels of a node's page", () => {
    const sample = read("samples/oracle-8001.prom");
    const { oracle } = pageOf("connect");
    const known = new Set(headLines(sample));
    expect(headLines(oracle).length).toBeGreaterThan(0);
    expect(headLines(oracle).filter((line) => !known.has(line))).toEqual([]);
    for (const [name, names] of labelNames(oracle))
      expect([name, names]).toEqual([name, labelNames(sample).get(name)]);
  });
});
