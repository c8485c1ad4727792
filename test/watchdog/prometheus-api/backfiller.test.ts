import { describe, expect, it } from "vitest";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { countObservation, EMPTY_LEDGER, type Ledger } from "../../../src/watchdog/ledger/ledger.ts";
import type { Backfiller } from "../../../src/watchdog/polling/poll-loop.ts";
import { createBackfiller } from "../../../src/watchdog/prometheus-api/backfill.ts";
import type { StoredHistory } from "../../../src/watchdog/prometheus-api/stored-readings.ts";
import { SourceError } from "../../../src/watchdog/sources/observation.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { nodePage, observationOf, up } from "../../support/watchdog/observations.ts";

const START_MS = Date.UTC(2026, 9, 12);
const HOUR = 3_600_000;
const GIVE_UP_MS = 60_000;

const pageAt = (atMs: number) => {
  const height = BigInt((atMs - START_MS) / 1000) + 1000n;
  return nodePage(height, 0n, { height, processStartMs: START_MS - 1_000_000 });
};
const pollAt = (atMs: number) => observationOf(atMs, [{ name: "node", metrics: up(pageAt(atMs)) }]);

/** What the history does with a query of these hours: returns a scrape at its end, returns none, or fails. */
type Respond = (
  query: readonly [fromHour: number, toHour: number],
) => "page" | "nothing" | "refused" | "too-large";

class Scene {
  readonly clock: ManualClock = createManualClock(START_MS);
  readonly queries: (readonly [number, number])[] = [];
  readonly log: string[] = [];
  saves = 0;
  ledger: Ledger = countObservation(EMPTY_LEDGER, pollAt(START_MS), { intervalMs: 5000 }).ledger;
  readonly signal = new AbortController();
  /** Time that a query takes. */
  queryMs = 0;
  respond: Respond = () => "page";
  private readonly backfiller: Backfiller;

  constructor() {
    const target = {
      name: "default",
      nodes: [{ name: "node", node: "", labels: { job: "node" } }],
      egress: [],
    };
    const limits = { afterMs: 60_000, longestMs: 1000 * HOUR, giveUpMs: GIVE_UP_MS };
    const note = (message: string): void => void this.log.push(message);
    this.backfiller = createBackfiller(
      { ...limits, target, counting: { intervalMs: 5000 } },
      {
        clock: this.clock,
        logger: { ...silentLogger, warn: note, error: note },
        random: () => 0.5,
        history: (...call) => this.answer(...call),
      },
    );
  }

  private readonly answer: StoredHistory = async (_labels, { fromMs, toMs }, _options, signal) => {
    if (signal.aborted) throw signal.reason;
    const query = [(fromMs - START_MS) / HOUR, (toMs - START_MS) / HOUR] as const;
    this.queries.push(query);
    await this.clock.advance(this.queryMs);
    const response = this.respond(query);
    if (response === "refused" || response === "too-large")
      throw new SourceError({ code: response }, response);
    return response === "page" ? [{ ...pageAt(toMs), sampledAtMs: toMs }] : [];
  };

  /** A poll that many hours after the start of the gap. Returns whether its readings can be counted. */
  fill(hours: number): Promise<boolean> {
    const save = (ledger: Ledger): void => {
      this.ledger = ledger;
      this.saves += 1;
    };
    return this.backfiller(this.ledger, pollAt(START_MS + hours * HOUR), save, this.signal.signal);
  }
}

describe("a backfiller", () => {
  it("reads an hour at a time, and saves each", async () => {
    const scene = new Scene();
    expect(await scene.fill(2.5)).toBe(true);
    expect([scene.queries, scene.saves]).toEqual([
      [
        [0, 1],
        [1, 2],
        [2, 2.5],
      ],
      3,
    ]);
  });

  it("reads 24 pieces in a poll, and goes on in the next one", async () => {
    const scene = new Scene();
    expect(await scene.fill(30)).toBe(false);
    expect(scene.queries).toHaveLength(24);
    expect(await scene.fill(30)).toBe(true);
    expect([scene.queries.length, scene.queries[24]]).toEqual([30, [24, 25]]);
  });

  it("reads for five seconds in a poll", async () => {
    const scene = new Scene();
    // Two take five seconds, which is not too long.
    scene.queryMs = 2500;
    expect(await scene.fill(10)).toBe(false);
    expect(scene.queries).toHaveLength(3);
    expect(await scene.fill(10)).toBe(false);
    expect(scene.queries[3]).toEqual([3, 4]);
  });

  it("remembers how far it searched in vain, and saves nothing then", async () => {
    const scene = new Scene();
    scene.respond = () => "nothing";
    expect(await scene.fill(30)).toBe(false);
    expect(await scene.fill(30)).toBe(true);
    expect([scene.queries.length, scene.queries[24], scene.saves]).toEqual([30, [24, 25], 0]);
  });

  it("reads a quarter after a response that was too large, and fails when a minute is too large", async () => {
    const scene = new Scene();
    scene.respond = ([from, to]) => (to - from > 0.25 ? "too-large" : "page");
    expect(await scene.fill(1)).toBe(true);
    expect(scene.queries).toEqual([
      [0, 1],
      [0, 0.25],
      [0.25, 0.5],
      [0.5, 0.75],
      [0.75, 1],
    ]);
    const large = new Scene();
    large.respond = () => "too-large";
    expect(await large.fill(1)).toBe(false);
    expect(large.queries.at(-1)?.[1]).toBeCloseTo(1 / 60);
    expect(large.log).toEqual(["gap cannot be filled from Prometheus yet; counting waits"]);
  });

  it("waits after a failure, and begins the time of giving up again after a success", async () => {
    const scene = new Scene();
    scene.respond = ([from]) => (from === 1 ? "refused" : "page");
    expect(await scene.fill(3)).toBe(false);
    expect(await scene.fill(3)).toBe(false);
    expect(scene.queries).toHaveLength(2);
    await scene.clock.advance(GIVE_UP_MS - 1);
    scene.respond = ([from]) => (from === 2 ? "refused" : "page");
    expect(await scene.fill(3)).toBe(false);
    await scene.clock.advance(GIVE_UP_MS - 1);
    expect(await scene.fill(3)).toBe(false);
    expect(scene.log).toEqual(Array(2).fill("gap cannot be filled from Prometheus yet; counting waits"));
  });

  it("begins anew with another gap: its failures, and where it searches", async () => {
    const scene = new Scene();
    const { ledger } = scene;
    scene.respond = () => "refused";
    expect(await scene.fill(3)).toBe(false);
    // The readings of this poll close no gap.
    expect(await scene.fill(60_000 / HOUR)).toBe(true);
    await scene.clock.advance(2 * GIVE_UP_MS);
    expect(await scene.fill(3)).toBe(false);
    expect(scene.log).toEqual(Array(2).fill("gap cannot be filled from Prometheus yet; counting waits"));
    await scene.clock.advance(GIVE_UP_MS - 1);
    scene.respond = () => "page";
    expect(await scene.fill(3)).toBe(true);
    expect(await scene.fill(3)).toBe(true);
    // Somebody put an older state file there.
    scene.ledger = ledger;
    scene.queries.length = 0;
    expect(await scene.fill(1)).toBe(true);
    expect(scene.queries).toEqual([[0, 1]]);
  });

  it("gives a gap up after a time of failures, for good", async () => {
    const scene = new Scene();
    scene.respond = () => "refused";
    expect(await scene.fill(3)).toBe(false);
    await scene.clock.advance(GIVE_UP_MS);
    expect(await scene.fill(3)).toBe(true);
    expect(scene.log.at(-1)).toBe("gap not filled from Prometheus; the watchdog continues to count");
    const tried = scene.queries.length;
    scene.respond = () => "page";
    await scene.clock.advance(GIVE_UP_MS);
    expect([await scene.fill(3), scene.queries.length, scene.saves]).toEqual([true, tried, 0]);
  });

  it("rejects on abort", async () => {
    const scene = new Scene();
    scene.signal.abort(new Error("stopped"));
    await expect(scene.fill(3)).rejects.toThrow("stopped");
  });

  it("does nothing without a gap, and before the first reading", async () => {
    const scene = new Scene();
    expect(await scene.fill(60_000 / HOUR)).toBe(true);
    scene.ledger = EMPTY_LEDGER;
    expect(await scene.fill(5)).toBe(true);
    expect(scene.queries).toEqual([]);
  });
});
