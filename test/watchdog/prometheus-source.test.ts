import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { WatchdogConfig } from "../../src/watchdog/config/config.ts";
import type { ReadSamples } from "../../src/watchdog/prometheus-api/api-client.ts";
import { SourceError } from "../../src/watchdog/sources/observation.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { createReceiver, type Rig, rigConfig, startRig } from "../support/watchdog/rig.ts";
import { createStoredSamples } from "../support/watchdog/stored-samples.ts";
import { createWorld, type World } from "../support/watchdog/world.ts";

const START_MS = Date.UTC(2026, 10, 21, 12);
const NODE = { job: "node", instance: "a:26660" };
const SIDECAR = { job: "sidecar", instance: "a:8002" };
const SCRAPE_MS = 15_000;

const ended: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

const PROMETHEUS: Required<Pick<WatchdogConfig, "prometheus" | "backfill">> = {
  prometheus: {
    connection: {
      url: "http://prometheus/",
      deadlineMs: 1000,
      maxResponseBytes: 1_000_000,
      maxSeries: 1000,
      maxPoints: 10_000,
    },
    staleMs: 60_000,
  },
  backfill: { afterMs: 60_000, longestMs: 31 * 86_400_000, giveUpMs: 300_000 },
};

/** A Prometheus that scrapes a simulated node and sidecar every 15 seconds. */
function createPrometheus(clock: ManualClock, world: World) {
  const samples = createStoredSamples();
  const state: { isScraping: boolean; failure: Error | undefined; ticks: number } = {
    isScraping: true,
    failure: undefined,
    ticks: 0,
  };
  const text = async (url: string): Promise<string> => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of (await world.read(url, new AbortController().signal)).body) chunks.push(chunk);
    return Buffer.concat(chunks).toString("utf8");
  };
  const store = async (target: Readonly<Record<string, string>>, page: () => Promise<string>) => {
    try {
      samples.scrape(target, clock.nowMs(), await page());
    } catch {
      samples.fail(target, clock.nowMs());
    }
  };
  const scrape = async (): Promise<void> => {
    if (!state.isScraping) return;
    const isBlind = world.has("blind-node");
    world.set("blind-node", false);
    await store(NODE, () => text("http://a:26660/metrics"));
    world.set("blind-node", isBlind);
    state.ticks += 60;
    await store(SIDECAR, async () => {
      await text("http://a:8080/");
      const pairs = world.has("no-prices") ? 0 : state.ticks;
      return [
        "process_start_time_seconds 5",
        `side_car_health_check_system_updates_total ${state.ticks}`,
        `side_car_health_check_ticker_updates_total{id="btc/usd"} ${pairs}`,
      ].join("\n");
    });
  };
  const read: ReadSamples = async (...call) => {
    if (state.failure !== undefined) throw state.failure;
    return samples.read(...call);
  };
  return { samples, state, read, scrape };
}

type Prometheus = ReturnType<typeof createPrometheus>;

/** A simulated world with its Prometheus. */
async function createScene() {
  const clock = createManualClock(START_MS);
  const world = createWorld(clock);
  const prometheus = createPrometheus(clock, world);
  await clock.advance(60_000);
  await prometheus.scrape();
  return { clock, world, prometheus, advance: (ms: number) => advance(clock, prometheus, ms) };
}

async function advance(clock: ManualClock, prometheus: Prometheus, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1000) {
    await clock.advance(1000);
    if ((clock.nowMs() - START_MS) % SCRAPE_MS === 0) await prometheus.scrape();
  }
}

interface Scene {
  readonly clock: ManualClock;
  readonly world: World;
  readonly prometheus: Prometheus;
}

async function start({ clock, world, prometheus }: Scene, config: WatchdogConfig): Promise<Rig> {
  const rig = await startRig(
    config,
    clock,
    { read: world.read, readSamples: prometheus.read },
    createReceiver(),
  );
  ended.push(rig.stop);
  return rig;
}

const [validator] = rigConfig().validators;
if (validator === undefined) throw new Error("the rig has a validator");
const [node] = validator.target.nodes;
if (node === undefined) throw new Error("the rig has a node");
const labelled = { ...node, labels: NODE, sidecarLabels: SIDECAR };

/** The watchdog reads everything from Prometheus. */
const { prices: _prices, ...withoutPrices } = labelled;
const stored = (more: Partial<WatchdogConfig> = {}): WatchdogConfig =>
  rigConfig({
    prometheus: PROMETHEUS.prometheus,
    validators: [{ ...validator, target: { ...validator.target, nodes: [withoutPrices], isStored: true } }],
    ...more,
  });

/** The watchdog scrapes, and fills gaps from Prometheus. */
const filling = (more: Partial<WatchdogConfig> = {}): WatchdogConfig =>
  rigConfig({
    ...PROMETHEUS,
    validators: [{ ...validator, target: { ...validator.target, nodes: [labelled] } }],
    ...more,
  });

const countsOf = ({ watchdog }: Rig) => watchdog.status().current.counts;
const sourceOf = ({ watchdog }: Rig, name: string) =>
  watchdog.status().sources.find((source) => source.name === name);
const eventsOf = ({ watchdog }: Rig) => watchdog.ledger("default")?.events(0, Number.MAX_SAFE_INTEGER) ?? [];

describe("a watchdog with source: prometheus", () => {
  it("counts what a scraping watchdog counts, across faults and a restart of the node", async () => {
    const scene = await createScene();
    const { world } = scene;
    const scraping = await start(scene, rigConfig());
    const reading = await start(scene, stored());
    await scene.advance(60_000);
    world.set("sidecar-down", true);
    await scene.advance(45_000);
    world.set("sidecar-down", false);
    await scene.advance(30_000);
    world.restartNode();
    await scene.advance(120_000);
    await scene.clock.advance(5000);
    const [expected, counted] = [countsOf(scraping), countsOf(reading)];
    expect(counted.bad).toBe(expected.bad);
    // It is up to one scrape of Prometheus behind.
    expect(Number(expected.good - counted.good)).toBeLessThanOrEqual(SCRAPE_MS / 1000 + 5);
    expect(counted.unknown).toBe(0n);
    expect(reading.watchdog.status().chainId).toBe("test-1");
    expect(eventsOf(reading).map(({ kind }) => kind)).toEqual([
      "watchdog-start",
      "first-reading",
      "node-restart",
    ]);
  });

  it("derives the pairs that have a price from the sidecar's updates", async () => {
    const scene = await createScene();
    const rig = await start(scene, stored());
    expect(sourceOf(rig, "prices")?.error).toContain("Prometheus has only one scrape of the sidecar");
    await scene.advance(30_000);
    expect(rig.watchdog.status().pairs).toEqual(["BTC/USD"]);
    expect(sourceOf(rig, "sidecar-metrics")).toMatchObject({ up: true });
    scene.world.set("no-prices", true);
    scene.world.set("no-prices", true);
    await scene.advance(360_000);
    expect(rig.watchdog.status().prices).toBe("missing");
    const firing = rig.watchdog.status().alerts.filter(({ state }) => state?.phase === "firing");
    expect(firing.map(({ rule }) => rule.condition.name)).toContain("all-prices-missing");
    expect(firing.map(({ rule }) => rule.condition.name)).not.toContain("stale-price-timestamp");
  });

  it("cannot see a node that Prometheus cannot scrape, and counts nothing as bad", async () => {
    const scene = await createScene();
    const rig = await start(scene, stored());
    await scene.advance(60_000);
    const before = countsOf(rig);
    scene.world.set("node-down", true);
    await scene.advance(30_000);
    expect(sourceOf(rig, "node")).toMatchObject({
      up: false,
      error: expect.stringContaining("Prometheus could not scrape the node at 2026-11-21T12:02:"),
    });
    await scene.advance(360_000);
    expect(sourceOf(rig, "node")?.error).toContain("Prometheus could not scrape the node");
    expect(countsOf(rig).bad).toBe(0n);
    expect(countsOf(rig).good - before.good).toBeLessThan(20n);
  });

  it("does not use samples that are too old, nor those of a Prometheus that fails", async () => {
    const scene = await createScene();
    const rig = await start(scene, stored());
    await scene.advance(60_000);
    scene.prometheus.state.isScraping = false;
    await scene.advance(90_000);
    expect(sourceOf(rig, "node")).toMatchObject({
      up: false,
      error: expect.stringMatching(/^the latest sample of the node is (?:8\d|9\d) s old/),
    });
    await scene.advance(60_000);
    expect(sourceOf(rig, "node")?.error).toBe(
      'Prometheus has no metrics for the node with {job="node",instance="a:26660"} from the last 120 s',
    );
    scene.prometheus.state.failure = new SourceError({ code: "http-status" }, "Prometheus answered HTTP 503");
    await scene.advance(10_000);
    expect(sourceOf(rig, "node")?.error).toBe("Prometheus answered HTTP 503");
    expect(countsOf(rig).bad).toBe(0n);
  });

  it("ends with code 78 for a node on another chain, as a scraping one does", async () => {
    const scene = await createScene();
    const rig = await start(
      scene,
      stored({
        validators: [
          {
            ...validator,
            target: { ...validator.target, chainId: "other-1", nodes: [withoutPrices], isStored: true },
          },
        ],
      }),
    );
    expect(await rig.stop()).toMatchObject({ facts: { code: "wrong-chain" } });
  });

  it("sends one query for the nodes and one for the sidecars of many validators", async () => {
    const scene = await createScene();
    const targets = Array.from({ length: 80 }, (_item, index) => ({
      job: "node",
      instance: `host-${index}`,
    }));
    const page = [
      'app_oracle_responses{chain_id="test-1",status="Success"} 7',
      "process_start_time_seconds 1",
    ].join("\n");
    for (const target of targets) scene.prometheus.samples.scrape(target, scene.clock.nowMs(), page);
    const rig = await start(
      scene,
      stored({
        validators: targets.map((labels, index) => ({
          ...validator,
          target: {
            name: `v${index}`,
            egress: [],
            isStored: true,
            nodes: [{ name: "node", node: "", labels, sidecarMetrics: "" }],
          },
        })),
      }),
    );
    expect(scene.prometheus.samples.selectors.length).toBe(2);
    expect(rig.watchdog.statuses().map((status) => status.sources[0]?.up)).toEqual(targets.map(() => true));
    await scene.advance(10_000);
    expect(scene.prometheus.samples.selectors.length).toBeLessThanOrEqual(6);
  });
});

describe("a watchdog with backfill", () => {
  /** Blind for ten minutes, in which the sidecar is down for one and the node restarts. */
  const gap = async (scene: Awaited<ReturnType<typeof createScene>>): Promise<void> => {
    const { world } = scene;
    world.set("blind-node", true);
    await scene.advance(240_000);
    world.set("sidecar-down", true);
    await scene.advance(60_000);
    world.set("sidecar-down", false);
    // Prometheus scrapes at the end of this time, and the node restarts after it.
    await scene.advance(SCRAPE_MS - ((scene.clock.nowMs() - START_MS) % SCRAPE_MS));
    world.restartNode();
    await scene.advance(300_000);
    world.set("blind-node", false);
  };

  it("knows every block of a gap in which the node restarted", async () => {
    const scene = await createScene();
    const without = await start(scene, rigConfig());
    const rig = await start(scene, filling());
    await scene.advance(60_000);
    await gap(scene);
    await scene.advance(10_000);
    const actual = scene.world.actualAtScrape();
    expect(countsOf(rig)).toEqual({ good: actual.good, bad: actual.bad, unknown: 0n });
    // The counts between the last reading and the restart are lost without Prometheus.
    expect(countsOf(without).unknown).toBeGreaterThan(300n);
    expect(eventsOf(rig).map(({ kind }) => kind)).toEqual([
      "watchdog-start",
      "first-reading",
      "node-restart",
      "backfill",
    ]);
    const [month] = rig.watchdog.ledger("default")?.months() ?? [];
    expect(Number(month?.backfilled?.good)).toBeGreaterThan(500);
    expect(month?.backfilled?.bad).toBe(60n);
    const minutes = rig.watchdog.ledger("default")?.minutes(0, Number.MAX_SAFE_INTEGER) ?? [];
    expect(minutes.filter(({ counts }) => counts.bad > 0n).length).toBeLessThanOrEqual(2);
  });

  it("fills what was missed while the watchdog was killed, once, also when it is killed while it fills", async () => {
    const folder = mkdtempSync(join(tmpdir(), "relaywatch-backfill-"));
    ended.push(() => rmSync(folder, { recursive: true, force: true }));
    const scene = await createScene();
    const first = await start(scene, filling({ stateDir: folder }));
    await scene.advance(60_000);
    await first.stop();
    await gap(scene);
    await scene.advance(3 * 3_600_000);
    // One piece is read, and the next one fails.
    let pieces = 0;
    const failing: ReadSamples = async (...call) => {
      pieces += 1;
      if (pieces > 1) throw new Error("killed");
      return scene.prometheus.samples.read(...call);
    };
    const second = await startRig(
      filling({ stateDir: folder }),
      scene.clock,
      { read: scene.world.read, readSamples: failing },
      createReceiver(),
    );
    const partly = countsOf(second);
    await second.stop();
    expect(partly.good).toBeGreaterThan(3000n);
    expect(partly.good).toBeLessThan(scene.world.actualAtScrape().good - 3600n);
    for (let restart = 0; restart < 2; restart++) {
      const rig = await start(scene, filling({ stateDir: folder }));
      await scene.advance(5000);
      const { good, bad } = scene.world.actualAtScrape();
      expect([restart, countsOf(rig)]).toEqual([restart, { good, bad, unknown: 0n }]);
      expect(eventsOf(rig).filter(({ kind }) => kind === "backfill").length).toBe(1);
      await rig.stop();
    }
  });

  it("waits for a Prometheus that fails, and counts without it when it fails for too long", async () => {
    const scene = await createScene();
    const rig = await start(scene, filling());
    await scene.advance(60_000);
    await gap(scene);
    scene.prometheus.state.failure = new SourceError(
      { code: "refused" },
      "Prometheus refused the connection",
    );
    const before = countsOf(rig);
    await scene.advance(120_000);
    expect(countsOf(rig)).toEqual(before);
    // Alerts go on: the poll is shown.
    expect(sourceOf(rig, "node")).toMatchObject({ up: true });
    expect(rig.log.filter((line) => line.includes("counting waits")).length).toBe(1);
    scene.prometheus.state.failure = undefined;
    await scene.advance(70_000);
    const { good, bad } = scene.world.actualAtScrape();
    expect(countsOf(rig)).toEqual({ good, bad, unknown: 0n });

    await gap(scene);
    scene.prometheus.state.failure = new SourceError(
      { code: "refused" },
      "Prometheus refused the connection",
    );
    await scene.advance(400_000);
    expect(countsOf(rig).unknown).toBeGreaterThan(300n);
    expect(rig.log.some((line) => line.startsWith("error gap not filled from Prometheus"))).toBe(true);
    expect(eventsOf(rig).map(({ kind }) => kind)).toContain("gap");
  });

  it("reads shorter pieces when a response is too large", async () => {
    const scene = await createScene();
    const ranges: number[] = [];
    const small: ReadSamples = async (selector, range, signal) => {
      ranges.push(range.rangeMs);
      if (range.rangeMs > 300_000) throw new SourceError({ code: "too-large" }, "too large");
      return scene.prometheus.samples.read(selector, range, signal);
    };
    const rig = await startRig(
      filling(),
      scene.clock,
      { read: scene.world.read, readSamples: small },
      createReceiver(),
    );
    ended.push(rig.stop);
    await scene.advance(60_000);
    await gap(scene);
    await scene.advance(10_000);
    const { good, bad } = scene.world.actualAtScrape();
    expect(countsOf(rig)).toEqual({ good, bad, unknown: 0n });
    expect(Math.max(...ranges.slice(3))).toBeLessThanOrEqual(300_000);
  });
});
