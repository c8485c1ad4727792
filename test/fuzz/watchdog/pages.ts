import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Registry } from "prom-client";
import { errorText } from "../../../src/platform/base/errors.ts";
import type { Logger } from "../../../src/platform/base/logger.ts";
import type { PageReader } from "../../../src/watchdog/sources/page-reader.ts";
import { openSqliteState } from "../../../src/watchdog/state/sqlite-state.ts";
import { statusView } from "../../../src/watchdog/polling/status-json.ts";
import type { WatchdogStatus } from "../../../src/watchdog/polling/watchdog-status.ts";
import { WatchdogError } from "../../../src/watchdog/state/state-store.ts";
import { createWatchdog, type Watchdog } from "../../../src/watchdog/watchdog.ts";
import { pageText } from "../../support/watchdog/page-text.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { rigConfig } from "../../support/watchdog/rig.ts";
import { createWorld } from "../../support/watchdog/world.ts";
import { type CampaignBudget, type CampaignReport, cpuMs, inputNumbers, usedHeap } from "../campaign.ts";
import { createRandom, type Random } from "../random.ts";
import { HOSTILE_TAG, hostilePage } from "./hostile-pages.ts";

const POLL_MS = 5_000;
/** Longest poll and longest answer, CPU time. */
const MAX_MS = 1_000;
/** The HTTP API is asked at every so many inputs. */
const ASK_EVERY = 100;
/** At every so many inputs, another watchdog without a state makes its first poll. */
const FIRST_POLL_EVERY = 4;
/** Blocks that one poll of two readings can add: twice the largest count of a page. */
const MAX_GROWTH = 3_000_000_000_000n;
const MAX_HEAP_GROWTH = 32 * 1024 * 1024;

interface Target {
  readonly watchdog: Watchdog;
  readonly registry: Registry;
  readonly clock: ManualClock;
  readonly url: string;
  /** Lines of the log that must not appear. */
  readonly complaints: readonly string[];
  /** Set when the watchdog has ended. */
  readonly ended: () => unknown;
  /** Resolves with the error of the watchdog, or with undefined when it stopped because it was asked to. */
  readonly done: Promise<unknown>;
}

/**
 * Serves hostile pages to a watchdog in simulated time, on all its sources. It must go on polling, storing and answering, and
 * count correctly when the pages are good again.
 */
export async function fuzzPages(seed: number, budget: CampaignBudget): Promise<CampaignReport> {
  const folder = mkdtempSync(join(tmpdir(), "relaywatch-pages-"));
  const random = createRandom(seed);
  const clock = createManualClock(Date.UTC(2026, 10, 21, 12));
  const world = createWorld(clock);
  const failures: string[] = [];
  let inputs = 0;
  // The first poll is good: a watchdog that finds another chain at its first poll ends, as it should.
  let isHostile = false;
  const read: PageReader = async (url, signal) => {
    const page = await world.read(url, signal).catch(() => undefined);
    if (!isHostile || random.chance(0.2)) return page ?? world.read(url, signal);
    return hostileResponse(random);
  };
  const stop = new AbortController();
  const target = await startTarget({ clock, read, folder }, stop.signal);
  isHostile = true;
  let heap = 0;
  for (const input of inputNumbers(budget, failures)) {
    inputs = input + 1;
    // The first inputs load code and fill caches.
    if (input === 200) heap = usedHeap();
    const found = [
      ...(await pollOnce(target, input)),
      ...(input % FIRST_POLL_EVERY === 0 ? await firstPoll(read) : []),
    ];
    failures.push(...found.map((failure) => `input ${input}: ${failure}`));
  }
  isHostile = false;
  failures.push(...(await recover(target)));
  if (heap > 0 && usedHeap() - heap > MAX_HEAP_GROWTH)
    failures.push(`the heap has grown by ${usedHeap() - heap} bytes`);
  stop.abort(new Error("the campaign is over"));
  await target.done;
  failures.push(...storedDifference(folder, target.watchdog.status()));
  rmSync(folder, { recursive: true });
  return { inputs, failures };
}

function hostileResponse(random: Random): Awaited<ReturnType<PageReader>> {
  if (random.chance(0.05)) throw Object.assign(new Error("reset"), { code: "ECONNRESET" });
  const { status, chunks, breaks } = hostilePage(random);
  return { status, body: bodyOf(chunks, breaks) };
}

async function* bodyOf(chunks: readonly Uint8Array[], breaks: boolean): AsyncGenerator<Uint8Array> {
  yield* chunks;
  if (breaks) throw Object.assign(new Error("terminated"), { code: "UND_ERR_SOCKET" });
}

interface TargetParts {
  readonly clock: ManualClock;
  readonly read: PageReader;
  /** Of the state; absent: in memory. */
  readonly folder?: string;
}

async function startTarget({ clock, read, folder }: TargetParts, signal: AbortSignal): Promise<Target> {
  const registry = new Registry();
  const complaints: string[] = [];
  let end: unknown;
  const config = rigConfig({ chainId: "test-1", ...(folder === undefined ? {} : { stateDir: folder }) });
  const watchdog = createWatchdog(config, {
    clock,
    registry,
    logger: complainingLogger(complaints),
    random: () => 0.5,
    reader: { read, close: async () => {} },
    post: async () => ({ status: 204 }),
  });
  const done = watchdog.run(signal).then(
    () => {
      end = "it ended";
      return undefined;
    },
    (error: unknown) => {
      end = error;
      return error;
    },
  );
  const { port } = await watchdog.ready;
  await clock.advance(0);
  return { watchdog, registry, clock, url: `http://127.0.0.1:${port}`, complaints, ended: () => end, done };
}

/** Starts a watchdog whose first poll gets hostile pages. It may end only because the node is on another chain. */
async function firstPoll(read: PageReader): Promise<readonly string[]> {
  const clock = createManualClock(Date.UTC(2026, 10, 21, 12));
  const stop = new AbortController();
  const { done } = await startTarget({ clock, read }, stop.signal);
  stop.abort(new Error("the first poll is over"));
  const end = await done;
  const isExpected = end === undefined || (end instanceof WatchdogError && end.facts.code === "wrong-chain");
  return isExpected ? [] : [`the watchdog ended at its first poll: ${errorText(end)}`];
}

/** Collects errors other than those that hostile pages may cause. */
function complainingLogger(complaints: string[]): Logger {
  const logger: Logger = {
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: (message, fields) => {
      if (message !== "alert firing") complaints.push(`${message}: ${String(fields?.["error"])}`);
    },
    child: () => logger,
  };
  return logger;
}

/** Runs one poll. Returns what it violated. */
async function pollOnce(target: Target, input: number): Promise<readonly string[]> {
  const before = target.watchdog.status();
  const startMs = cpuMs();
  await target.clock.advance(POLL_MS);
  const tookMs = cpuMs() - startMs;
  if (target.ended() !== undefined) return [`the watchdog ended: ${errorText(target.ended())}`];
  const after = target.watchdog.status();
  const failures = [...countFailures(before, after), ...complaintsOf(target)];
  if (tookMs > MAX_MS) failures.push(`the poll took ${tookMs} ms`);
  if (after.polledAtMs === before.polledAtMs) failures.push("nothing was polled");
  if (input % ASK_EVERY === 0) failures.push(...(await askAll(target)));
  // A status that cannot be encoded throws here and not in a request, so that the input is known. So do gauges.
  statusView.json(after);
  await target.registry.metrics();
  if (pageText([after]).includes(HOSTILE_TAG)) failures.push("the page has an unescaped text of a source");
  return failures;
}

function complaintsOf({ complaints }: Target): readonly string[] {
  return complaints.length === 0 ? [] : [`the log has: ${complaints.slice(0, 3).join("; ")}`];
}

function countFailures(before: WatchdogStatus, after: WatchdogStatus): string[] {
  const growth = total(after) - total(before);
  return growth < 0n || growth > MAX_GROWTH ? [`the counts grew by ${growth}`] : [];
}

function total({ months }: WatchdogStatus): bigint {
  return months.reduce((sum, { counts }) => sum + counts.good + counts.bad + counts.unknown, 0n);
}

async function askAll({ url }: Target): Promise<readonly string[]> {
  const failures: string[] = [];
  for (const path of ["/", "/api/status", "/metrics", "/livez", "/readyz"]) {
    const startMs = cpuMs();
    const response = await fetch(`${url}${path}`);
    const body = await response.text();
    if (response.status !== 200) failures.push(`${path} answered ${response.status}: ${body.slice(0, 200)}`);
    if (path === "/" && body.includes(HOSTILE_TAG))
      failures.push("the page has an unescaped text of a source");
    if (cpuMs() - startMs > MAX_MS) failures.push(`${path} took too long`);
  }
  return failures;
}

/** Good pages again: within six minutes all sources are up, and each block is counted once. */
async function recover(target: Target): Promise<readonly string[]> {
  await target.clock.advance(6 * 60_000);
  if (target.ended() !== undefined) return [];
  const before = target.watchdog.status();
  await target.clock.advance(100_000);
  const after = target.watchdog.status();
  const down = after.sources.filter(({ name, up }) => !up && name !== "oracle-metrics");
  const failures = down.map(({ name, error }) => `after good pages, ${name} is down: ${error}`);
  const growth = total(after) - total(before);
  if (growth !== 100n) failures.push(`after good pages, 100 blocks counted as ${growth}`);
  return [...failures, ...(await askAll(target))];
}

/** The file must have what the watchdog showed last. */
function storedDifference(folder: string, shown: WatchdogStatus): readonly string[] {
  const store = openSqliteState(folder);
  const stored = [...(store.load().ledgers.get("default")?.sources.calls.rollups.months.values() ?? [])].map(
    ({ month, counts }) => `${month} ${counts.good} ${counts.bad}`,
  );
  store.close();
  const wanted = shown.months.map(({ month, counts }) => `${month} ${counts.good} ${counts.bad}`);
  return stored.toSorted().join() === wanted.toSorted().join()
    ? []
    : [`stored ${stored.join()}, shown ${wanted.join()}`];
}
