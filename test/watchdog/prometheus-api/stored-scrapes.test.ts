import { describe, expect, it } from "vitest";
import { findTarget } from "../../../src/watchdog/prometheus-api/stored-scrapes.ts";
import { isNodeFamily } from "../../../src/watchdog/sources/node-reading.ts";
import { isSidecarFamily } from "../../../src/watchdog/sources/sidecar-reading.ts";
import { createStoredSamples, type StoredSamples } from "../../support/watchdog/stored-samples.ts";

const NODE = { job: "node", instance: "a:26660", validator: "one" };
const SIDECAR = { job: "sidecar", instance: "a:8002", validator: "one" };
const ONE = { validator: "one" };

const nodePage = (start: number, ...calls: readonly string[]): string =>
  [`process_start_time_seconds ${start}`, 'cometbft_p2p_peers{chain_id="c"} 3', ...calls].join("\n");
const calls = (status: string, count: number): string =>
  `app_oracle_responses{chain_id="c",status="${status}"} ${count}`;

const all = (samples: StoredSamples) => samples.select('{__name__=~".*"}', 1_000_000, 1_000_000);
const find = (samples: StoredSamples, labels = {}) =>
  findTarget(all(samples), { ...ONE, ...labels }, isNodeFamily);
/** Times of the scrapes that are used. */
const times = (samples: StoredSamples) => find(samples)?.scrapes.map(({ atMs }) => atMs);

describe("scrapes that Prometheus stored", () => {
  it("are the pages of one target, although node and sidecar share labels", () => {
    const samples = createStoredSamples();
    samples.scrape(NODE, 1000, nodePage(1, calls("Success", 5)));
    samples.scrape(
      SIDECAR,
      1200,
      "process_start_time_seconds 2\nside_car_health_check_system_updates_total 7",
    );
    expect(find(samples)).toEqual({
      labels: new Map(Object.entries(NODE)),
      scrapes: [
        {
          atMs: 1000,
          samples: [
            { name: "process_start_time_seconds", labels: new Map(), value: 1 },
            { name: "cometbft_p2p_peers", labels: new Map([["chain_id", "c"]]), value: 3 },
            {
              name: "app_oracle_responses",
              labels: new Map([
                ["chain_id", "c"],
                ["status", "Success"],
              ]),
              value: 5,
            },
          ],
        },
      ],
    });
    const sidecar = findTarget(all(samples), ONE, isSidecarFamily);
    expect(sidecar?.scrapes.map(({ atMs }) => atMs)).toEqual([1200]);
  });

  it("get back the labels that Prometheus renamed", () => {
    const samples = createStoredSamples();
    const page = 'app_report_status_per_validator{validator="valcons1",status="absent"} 4';
    samples.scrape(NODE, 1000, page);
    expect(find(samples)?.scrapes[0]?.samples[0]?.labels).toEqual(
      new Map([
        ["validator", "valcons1"],
        ["status", "absent"],
      ]),
    );
    const plain = createStoredSamples();
    plain.scrape({ ...NODE, job: "x" }, 1000, 'app_x{exported_thing="1"} 4');
    expect(find(plain)?.scrapes[0]?.samples[0]?.labels).toEqual(new Map([["exported_thing", "1"]]));
  });

  it("of several targets are an error that names the label to add", () => {
    const samples = createStoredSamples();
    samples.scrape({ ...NODE, replica: "a" }, 1000, nodePage(1));
    samples.scrape({ ...NODE, replica: "b" }, 1000, nodePage(1));
    expect(() => find(samples)).toThrow(
      'Prometheus has several targets with {validator="one"}: they differ in replica; add that label',
    );
    expect(find(samples, { replica: "b" })?.scrapes.length).toBe(1);
  });

  it("of a target whose metrics were relabelled are one target", () => {
    const samples = createStoredSamples();
    samples.scrape({ ...NODE, zone: "x" }, 1000, nodePage(1));
    const up = all(samples).filter(({ name }) => name === "up");
    const pages = all(samples)
      .filter(({ name }) => name !== "up")
      .map((one) => ({ ...one, labels: new Map([...one.labels].filter(([name]) => name !== "zone")) }));
    expect(findTarget([...up, ...pages], ONE, isNodeFamily)?.labels.has("zone")).toBe(false);
  });

  it("that lack a series of calls of the same process are not used", () => {
    const samples = createStoredSamples();
    const whole = nodePage(1, calls("Success", 5), calls("Failure", 2));
    samples.scrape(NODE, 1000, whole);
    samples.scrape(NODE, 2000, nodePage(1, calls("Success", 6)));
    samples.scrape(NODE, 3000, whole.replace("process_start_time_seconds 1\n", ""));
    expect(times(samples)).toEqual([1000]);
    samples.scrape(NODE, 4000, whole);
    // A process that has restarted has no failure yet.
    samples.scrape(NODE, 5000, nodePage(4, calls("Success", 1)));
    expect(times(samples)).toEqual([1000, 4000, 5000]);
  });

  it("know the last scrape that failed", () => {
    const samples = createStoredSamples();
    samples.scrape(NODE, 1000, nodePage(1));
    samples.fail(NODE, 2000);
    expect(find(samples)).toMatchObject({ failedAtMs: 2000, scrapes: [{ atMs: 1000 }] });
  });

  it("of pages without a start time are found by the labels of up", () => {
    const samples = createStoredSamples();
    samples.scrape(NODE, 1000, calls("Success", 5));
    samples.scrape(NODE, 2000, 'cometbft_p2p_peers{chain_id="c"} 3');
    expect(times(samples)).toEqual([1000, 2000]);
  });
});
