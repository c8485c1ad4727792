import { describe, expect, it } from "vitest";
import { createManualClock } from "../../support/manual-clock.ts";
import { createStoredSamples, type StoredSamples } from "../../support/watchdog/stored-samples.ts";
import type { ReadSamples } from "../../../src/watchdog/prometheus-api/api-client.ts";
import { createFleet, createStoredHistory } from "../../../src/watchdog/prometheus-api/stored-readings.ts";
import { SourceError } from "../../../src/watchdog/sources/observation.ts";

const NODE = { job: "node", validator: "alpha" };
const OPTIONS = { chainId: "c-1", consensusAddress: "valcons1" };
const signal = new AbortController().signal;

const report = (address: string, status: string, count: number): string =>
  `app_report_status_per_validator{validator="${address}",ticker="btc/usd",status="${status}"} ${count}`;
const page = (success: number, ...more: readonly string[]): string =>
  [
    "process_start_time_seconds 1",
    `app_oracle_responses{chain_id="c-1",status="Success"} ${success}`,
    ...more,
  ].join("\n");

function fleetOf(samples: StoredSamples, atMs: number, sidecarLabels = {}) {
  const target = {
    name: "v",
    egress: [],
    isStored: true as const,
    nodes: [{ name: "n", node: "", labels: { validator: "alpha" }, ...sidecarLabels }],
  };
  return createFleet(
    { validators: [target], intervalMs: 5000, staleMs: 60_000 },
    { read: samples.read, clock: createManualClock(atMs), signal },
  );
}

describe("pages of a node that Prometheus stored", () => {
  it("have the votes of one validator of the same scrape, although Prometheus renamed its label", async () => {
    const samples = createStoredSamples();
    const reports = [
      report("valcons1", "with_price", 7),
      report("valcons1", "absent", 2),
      report("other", "absent", 9),
    ];
    samples.scrape(NODE, 1000, page(5, ...reports));
    const fleet = fleetOf(samples, 2000);
    expect(await fleet.node({ validator: "alpha" }, OPTIONS, signal)).toEqual({
      chainId: "c-1",
      success: 5n,
      failure: 0n,
      sampledAtMs: 1000,
      reports: new Map([["valcons1", { withPrice: 7n, absent: 2n, total: 9n }]]),
    });
    expect(samples.selectors.at(-1)).toContain('exported_validator="valcons1"');
    expect(samples.selectors.filter((selector) => selector.includes("app_report_status")).length).toBe(1);
  });

  it("are read again when the result is half an interval old", async () => {
    const samples = createStoredSamples();
    samples.scrape(NODE, 1000, page(5));
    const clock = createManualClock(2000);
    const fleet = createFleet(
      {
        validators: [
          {
            name: "v",
            egress: [],
            isStored: true,
            nodes: [{ name: "n", node: "", labels: NODE }],
          },
        ],
        intervalMs: 5000,
        staleMs: 60_000,
      },
      { read: samples.read, clock, signal },
    );
    const options = { ...OPTIONS, consensusAddress: undefined };
    const read = async () => (await fleet.node(NODE, options, signal)).success;
    expect([await read(), await read(), samples.selectors.length]).toEqual([5n, 5n, 1]);
    samples.scrape(NODE, 3000, page(6));
    await clock.advance(2499);
    expect([await read(), samples.selectors.length]).toEqual([5n, 1]);
    await clock.advance(1);
    expect([await read(), samples.selectors.length]).toEqual([6n, 2]);
  });

  it("are up again with the first scrape after one that failed", async () => {
    const samples = createStoredSamples();
    samples.scrape(NODE, 1000, page(5));
    samples.fail(NODE, 2000);
    const read = (atMs: number) => fleetOf(samples, atMs).node({ validator: "alpha" }, OPTIONS, signal);
    await expect(read(2500)).rejects.toThrow(
      "Prometheus could not scrape the node at 1970-01-01T00:00:02.000Z",
    );
    samples.scrape(NODE, 3000, page(6));
    expect((await read(3500)).success).toBe(6n);
  });

  it("show a price loop that hangs as prices that cannot be read", async () => {
    const samples = createStoredSamples();
    for (const atMs of [1000, 2000])
      samples.scrape(
        NODE,
        atMs,
        'side_car_health_check_system_updates_total 7\nside_car_health_check_ticker_updates_total{id="btc/usd"} 7',
      );
    await expect(fleetOf(samples, 2500).prices({ validator: "alpha" }, signal)).rejects.toThrow(
      "the sidecar's price loop made no update between its last two scrapes",
    );
  });
});

describe("the history of a node", () => {
  it("has the pages of the time, with votes, and none that cannot be right", async () => {
    const samples = createStoredSamples();
    samples.scrape(NODE, 1000, page(5));
    samples.scrape(NODE, 2000, page(6, report("valcons1", "with_price", 3)));
    samples.scrape(NODE, 3000, page(6.5));
    samples.scrape(NODE, 4000, page(8));
    samples.scrape(NODE, 5000, page(9));
    // Prometheus 2 also returns the sample at the start of the range.
    const read: typeof samples.read = (selector, { atMs, rangeMs }, ...rest) =>
      samples.read(selector, { atMs, rangeMs: rangeMs + 1 }, ...rest);
    const history = createStoredHistory(read);
    const pages = await history({ validator: "alpha" }, { fromMs: 1000, toMs: 4000 }, OPTIONS, signal);
    expect(pages.map(({ sampledAtMs, success, reports }) => [sampledAtMs, success, reports?.size])).toEqual([
      [2000, 6n, 1],
      [4000, 8n, undefined],
    ]);
    expect(await history({ validator: "beta" }, { fromMs: 0, toMs: 4000 }, OPTIONS, signal)).toEqual([]);
  });
});

describe("a query of many targets whose response is too large", () => {
  const TOO_LARGE = new SourceError({ code: "too-large" }, "more than the limit");
  const nodes = Array.from({ length: 10 }, (_, index) => ({
    name: `n${index}`,
    node: "",
    labels: { job: `j${index}` },
  }));

  /** A Prometheus that refuses queries for more than `most` of ten nodes, and all for the node `bad`. */
  function createScene(most: number, bad?: string) {
    const samples = createStoredSamples();
    for (const { labels } of nodes) samples.scrape(labels, 1000, page(5));
    const queries: { readonly targets: number; readonly share: number | undefined }[] = [];
    const read: ReadSamples = async (selector, range, end) => {
      const series = await samples.read(selector, range, end);
      const jobs = new Set(series.map(({ labels }) => labels.get("job") ?? ""));
      queries.push({ targets: jobs.size, share: range.share });
      if (jobs.size > most || jobs.has(bad ?? "none")) throw TOO_LARGE;
      return series;
    };
    const clock = createManualClock(2000);
    const fleet = createFleet(
      { validators: [{ name: "v", egress: [], isStored: true, nodes }], intervalMs: 5000, staleMs: 60_000 },
      { read, clock, signal },
    );
    const poll = () =>
      Promise.allSettled(
        nodes.map(({ labels }) =>
          fleet.node(labels, { chainId: "c-1", consensusAddress: undefined }, signal),
        ),
      );
    return { queries, clock, poll };
  }

  it("is split until each is small enough, and stays split", async () => {
    const { queries, clock, poll } = createScene(3);
    const first = await poll();
    expect(first.map(({ status }) => status)).toEqual(nodes.map(() => "fulfilled"));
    expect(queries.map(({ targets }) => targets)).toEqual([10, 5, 5, 3, 2, 3, 2]);
    await clock.advance(5000);
    await poll();
    expect(queries.slice(7).map(({ targets }) => targets)).toEqual([3, 2, 3, 2]);
  });

  it("fails for the target that is too large alone, and the parts together have a limit", async () => {
    const { queries, poll } = createScene(10, "j7");
    const results = await poll();
    expect(results.flatMap(({ status }, index) => (status === "rejected" ? [index] : []))).toEqual([7]);
    expect(queries.find(({ targets }) => targets === 5)?.share).toBe(1);
    expect(queries.find(({ targets }) => targets === 2)?.share).toBe(0.8);
    expect(queries.find(({ targets }) => targets === 1)?.share).toBe(0.4);
  });
});
