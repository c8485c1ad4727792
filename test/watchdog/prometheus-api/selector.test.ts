import { describe, expect, it } from "vitest";
import { selectorsOf } from "../../../src/watchdog/sources/targets.ts";
import { isNodeSample, NODE_METRICS } from "../../../src/watchdog/sources/node-reading.ts";
import { SIDECAR_METRICS, isSidecarMetric } from "../../../src/watchdog/sources/sidecar-reading.ts";
import { createStoredSamples } from "../../support/watchdog/stored-samples.ts";
import { readFileSync } from "node:fs";
import { fixtureFile } from "../../support/fixture-file.ts";

describe("selectors", () => {
  it("are one for targets with the same label names", () => {
    const sets = [{ validator: "b" }, { validator: "a" }, { job: "n", instance: "10.0.0.1:26660" }];
    expect(selectorsOf(["up", "x_(?:a|b)"], sets).map(({ selector }) => selector)).toEqual([
      '{__name__=~"up|x_(?:a|b)",validator=~"a|b"}',
      '{__name__=~"up|x_(?:a|b)",instance="10.0.0.1:26660",job="n"}',
    ]);
  });

  it("are one for each hundred targets", () => {
    const sets = Array.from({ length: 250 }, (_, index) => ({ instance: `host-${index}:26660` }));
    const selectors = selectorsOf(["up"], sets);
    expect(selectors.map((one) => one.sets.length)).toEqual([100, 100, 50]);
    expect(selectors.flatMap((one) => one.sets)).toEqual(sets);
  });

  it("escape what a pattern and a string of PromQL would read as something else", () => {
    const odd = ['a"b', "a\\b", "a.b|c", "(x)", "$^"];
    const samples = createStoredSamples();
    for (const label of [...odd, "aXb", "c"]) samples.scrape({ label }, 1, "");
    const [only] = selectorsOf(
      ["up"],
      odd.map((label) => ({ label })),
    );
    const selected = samples.select(only?.selector ?? "", 1, 1);
    expect(selected.map(({ labels }) => labels.get("label"))).toEqual(odd);
  });
});

describe("metrics that are read from Prometheus", () => {
  const namesOf = (page: string): readonly string[] => [
    ...new Set(page.split("\n").flatMap((line) => /^([a-z_]\w*)/.exec(line)?.[1] ?? [])),
  ];
  const matches = (patterns: readonly string[], name: string): boolean =>
    new RegExp(`^(?:${patterns.join("|")})$`).test(name);

  it("are all that the watchdog reads of a node's page, except those of every validator", () => {
    const wanted = namesOf(readFileSync(fixtureFile("metrics/node-26660-healthy.prom"), "utf8")).filter(
      (name) => isNodeSample({ name, labels: new Map([["abci_method", "extend_vote"]]), value: 0 }),
    );
    expect(wanted.length).toBeGreaterThan(8);
    expect(wanted.filter((name) => !matches(NODE_METRICS, name))).toEqual([]);
    expect(matches(NODE_METRICS, "app_report_status_per_validator")).toBe(false);
  });

  it("are some of those of a sidecar's page", () => {
    const all = namesOf(readFileSync(fixtureFile("metrics/sidecar-8002.prom"), "utf8")).filter((name) =>
      isSidecarMetric(name),
    );
    expect(all.filter((name) => matches(SIDECAR_METRICS, name)).toSorted()).toEqual([
      "process_start_time_seconds",
      "side_car_health_check_market_providers",
      "side_car_health_check_system_updates_total",
      "side_car_health_check_ticker_updates_total",
      "side_car_provider_status_responses",
      "side_car_slinky_build_info",
      "side_car_web_socket_connection_status",
    ]);
  });
});
