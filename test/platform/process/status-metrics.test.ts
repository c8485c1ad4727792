import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { knownSeries, registerStatusMetrics, series } from "../../../src/platform/process/status-metrics.ts";

interface Status {
  readonly height: bigint | undefined;
  readonly failures: number;
}

it("metrics of a status are as it is when they are scraped, and absent while it is unknown", async () => {
  const registry = new Registry();
  let status: Status | undefined;
  registerStatusMetrics<Status>(
    registry,
    [
      { name: "x_height", help: "a", labelNames: [], values: ({ height }) => knownSeries(height) },
      {
        name: "x_failures_total",
        help: "b",
        type: "counter",
        labelNames: ["reason"],
        values: ({ failures }) => [series(failures, { reason: "busy" })],
      },
    ],
    () => status,
  );
  const samples = async (): Promise<readonly string[]> =>
    (await registry.metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  expect(await samples()).toEqual([]);
  status = { height: 7n, failures: 2 };
  // A counter does not grow by being scraped.
  for (let scrape = 0; scrape < 2; scrape++)
    expect(await samples()).toEqual(["x_height 7", 'x_failures_total{reason="busy"} 2']);
  status = { height: undefined, failures: 3 };
  expect(await samples()).toEqual(['x_failures_total{reason="busy"} 3']);
  status = undefined;
  expect(await samples()).toEqual([]);
});
