import { DAY_MS, HOUR_MS, isoTime, MINUTE_MS } from "../../../src/platform/base/time.ts";
import { abortReason, type WaitSignal } from "../../../src/platform/base/abort.ts";
import { monthOf, monthStartMs, nextMonthMs } from "../../../src/platform/base/month.ts";
import { type BelievedClock, createBelievedClock } from "../../../src/watchdog/polling/believed-clock.ts";
import { createPollLoop } from "../../../src/watchdog/polling/poll-loop.ts";
import type { Poller } from "../../../src/watchdog/polling/poller.ts";
import type { MonthRecord } from "../../../src/watchdog/ledger/ledger-view.ts";
import { createStateKeeper } from "../../../src/watchdog/state/state-keeper.ts";
import { EMPTY_STATE, type WatchdogState } from "../../../src/watchdog/state/state-store.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { nodePage, observationOf, pricesPage, up } from "../../support/watchdog/observations.ts";
import { rigConfig } from "../../support/watchdog/rig.ts";
import { type CampaignBudget, type CampaignReport, inputNumbers } from "../campaign.ts";
import { createRandom, type Random } from "../random.ts";

/** Who shows the time besides the machine: the chain, a server with a right clock, both at times, or nobody. */
const WITNESSES = ["chain", "dates", "at times", "nobody"] as const;

const ALERT = "sidecar-down";
const FOR_MS = 20 * MINUTE_MS;
/** The first of the months; a life has one or two ends of a month. */
const FIRST_MS = Date.UTC(2026, 9, 12);
const SPAN_MS = 32 * DAY_MS;
const INTERVAL_MS = DAY_MS;
/** Polls a few minutes apart after each event. */
const DENSE_POLLS = 8;
/** Polls at the end, for which all clocks are right. */
const SETTLE_POLLS = 9;
/** A clock must be believed for so long before it closes a month that ended earlier. */
const EVIDENCE_MS = 10 * MINUTE_MS;
/** What agrees may differ by a minute each: the machine with a source, and this one with the time. */
const TOLERANCE_MS = 2 * MINUTE_MS;

const STEPS_MS = [
  3000,
  30_000,
  10 * MINUTE_MS,
  HOUR_MS,
  DAY_MS,
  30 * DAY_MS,
  40 * DAY_MS,
  400 * DAY_MS,
] as const;

const config = (() => {
  const rig = rigConfig({ intervalMs: INTERVAL_MS });
  const rules = rig.alerts.rules
    .filter(({ condition }) => condition.name === ALERT)
    .map((rule) => ({ ...rule, forMs: FOR_MS }));
  return { ...rig, alerts: { ...rig.alerts, rules } };
})();

const metrics = {
  recordPoll: () => {},
  recordDelivery: () => {},
  recordPing: () => {},
  showStatus: () => {},
  page: async () => "",
};

/** The simulated time, machines, node and chain. */
function createWorld(random: Random) {
  const startMs = FIRST_MS + random.int(20 * DAY_MS);
  const blockMs = [1000, 3000, 6000][random.int(3)] ?? 1000;
  const witness = WITNESSES[random.int(WITNESSES.length)] ?? "nobody";
  const heightAt = (ms: number): bigint => BigInt(Math.floor((ms - startMs) / blockMs)) + 1000n;
  /** Height of the last block before a month. */
  const heightBefore = (month: string): bigint =>
    BigInt(Math.ceil((monthStartMs(month) - startMs) / blockMs)) + 999n;
  const world = {
    nowMs: startMs,
    /** Monotonic clock of the watchdog's machine at `startMs`; changes at a boot. */
    bootMs: startMs - HOUR_MS,
    /** By how much the clocks of both machines are ahead. */
    aheadMs: 0,
    nodeAheadMs: 0,
    nodeStartMs: startMs,
    /** The node can be read from then on. A time of over a month would be divided by time, not by blocks. */
    nodeSeenMs: startMs,
    /** Last poll that read the node. */
    nodeReadMs: startMs,
    sidecarDownSinceMs: undefined as number | undefined,
    /** Height and counters of the last block that was made before `nowMs`. */
    height: heightAt(startMs),
    good: 0n,
    bad: 0n,
    /** Height that the last poll read. */
    readHeight: undefined as bigint | undefined,
    firstHeight: undefined as bigint | undefined,
    /** The last poll read the time of the chain. */
    isChainSeen: false,
  };
  const advance = (ms: number): void => {
    world.nowMs += ms;
    const blocks = heightAt(world.nowMs) - world.height;
    world.height += blocks;
    if (world.sidecarDownSinceMs === undefined) world.good += blocks;
    else world.bad += blocks;
  };
  const sees = (): boolean => witness === "chain" || (witness === "at times" && random.chance(0.5));
  const dates = (): boolean =>
    witness === "chain" || witness === "dates" || (witness === "at times" && random.chance(0.3));
  const poll: Poller = async ({ counted }) => {
    const { nowMs, height } = world;
    const readMs = nowMs - world.bootMs;
    const headMs = startMs + Number(height - 1000n) * blockMs;
    const isOver = counted?.height !== undefined && monthOf(counted.timeMs) < monthOf(headMs);
    const firstHeight = heightBefore(monthOf(headMs)) + 1n;
    const head = {
      chainId: "test-1",
      height,
      blockTimeMs: headMs,
      ...(isOver ? { monthEdge: { month: monthOf(headMs), firstHeight } } : {}),
    };
    const { good, bad, nodeStartMs, nodeAheadMs } = world;
    const isNodeUp = nowMs >= world.nodeSeenMs;
    const page = nodePage(good, bad, {
      height,
      processStartMs: nodeStartMs + nodeAheadMs,
      clockMs: nowMs + nodeAheadMs,
    });
    if (isNodeUp) {
      world.readHeight = height;
      world.nodeReadMs = nowMs;
      world.firstHeight ??= height;
    }
    const node = {
      ...(isNodeUp ? { metrics: up(page) } : {}),
      ...(world.sidecarDownSinceMs === undefined ? { prices: up(pricesPage("BTC/USD", "ETH/USD")) } : {}),
    };
    const seen = observationOf(nowMs, [node], {
      dates: [
        ...(dates() ? [{ host: "rest:1317", timeMs: nowMs - 500, readMs }] : []),
        // The watchdog runs on the node's machine.
        ...(witness === "nobody"
          ? [{ host: "node:26660", timeMs: nowMs + world.aheadMs - 500, readMs }]
          : []),
      ],
    });
    world.isChainSeen = sees();
    return world.isChainSeen ? { ...seen, chain: { ...seen.chain, head: up(head) } } : seen;
  };
  /** Blocks of a month that were counted since the first reading. */
  const blocksOf = (month: string): bigint => {
    const from = max(heightBefore(month), world.firstHeight ?? 0n);
    const to = min(heightBefore(monthOf(nextMonthMs(monthStartMs(month)))), world.readHeight ?? 0n);
    return to > from ? to - from : 0n;
  };
  return { world, witness, startMs, advance, poll, blocksOf };
}

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const oneOf = <T>(random: Random, list: readonly T[], first: T): T => list[random.int(list.length)] ?? first;

function total({ counts: { good, bad, unknown } }: MonthRecord): bigint {
  return good + bad + unknown;
}

/** Lives through two months. Returns what was violated, and undefined when all is well. */
async function live(seed: number): Promise<string | undefined> {
  const random = createRandom(seed);
  const { world, witness, startMs, advance, poll, blocksOf } = createWorld(random);
  let saves: readonly WatchdogState[] = [EMPTY_STATE];
  let clock: BelievedClock;
  let violation: string | undefined;
  let dense = DENSE_POLLS;
  let settling = 0;
  /** Phase of the alert at the last poll, and whether it fires for a cause that goes on. */
  let lastPhase: string | undefined;
  let firing = false;
  let lastClosed: ReadonlySet<string> = new Set();
  let corrected: { readonly atMs: number } | undefined;
  /** By how much a believed clock is set forward from one process to the next since the sidecar is down: where nobody shows the time, it has passed. */
  let unseenMs = 0;
  const log: string[] = [];
  const current = (): WatchdogState => saves.at(-1) ?? EMPTY_STATE;
  const phaseOf = (state: WatchdogState): string | undefined => state.alerting.alerts[0]?.phase;
  const note = (text: string): void => {
    log.push(`${isoTime(world.nowMs)} ${text}`);
  };

  const monthsOf = (state: WatchdogState): readonly MonthRecord[] => [
    ...(state.ledgers.get("default")?.sources.calls.rollups.months.values() ?? []),
  ];
  const closedIn = (state: WatchdogState): ReadonlySet<string> =>
    new Set(monthsOf(state).flatMap(({ month, finalized }) => (finalized === undefined ? [] : [month])));
  /** A month can be closed by the chain's time, or by a clock that went steadily over its end or was believed for long enough. */
  const isEvident = (month: string): boolean => {
    const { believedSinceMs } = clock.view();
    if (world.isChainSeen) return true;
    if (believedSinceMs === undefined) return false;
    const isSteady = believedSinceMs <= nextMonthMs(monthStartMs(month));
    return isSteady || clock.nowMs() - believedSinceMs >= EVIDENCE_MS;
  };

  /** Checks the state after a poll. */
  const check = (): string | undefined => {
    const state = current();
    const months = monthsOf(state);
    const counted = months.reduce((sum, month) => sum + total(month), 0n);
    const expected = (world.readHeight ?? 0n) - (world.firstHeight ?? 0n);
    if (counted !== expected) return `${counted} blocks are counted, not ${expected}`;
    if (witness === "chain")
      for (const month of months)
        if (total(month) !== blocksOf(month.month))
          return `${month.month} has ${total(month)} blocks, not ${blocksOf(month.month)}`;
    const isRight = witness === "chain" || witness === "dates";
    const errorMs = clock.nowMs() - world.nowMs;
    if (isRight && Math.abs(errorMs) > TOLERANCE_MS) return `the believed clock is ${errorMs} ms ahead`;
    const present = monthOf(world.nowMs + TOLERANCE_MS);
    const early = months.find(({ month, finalized }) => finalized !== undefined && month >= present);
    if (early !== undefined && (isRight || settling === 1)) return `${early.month} is closed too early`;
    const closed = closedIn(state);
    const unproven = [...closed].find((month) => !lastClosed.has(month) && !isEvident(month));
    if (unproven !== undefined) return `${unproven} is closed without evidence`;
    lastClosed = closed;
    if (settling === 1 && months.some(({ month }) => month > present))
      return "a month of the future has blocks";
    const phase = phaseOf(state);
    const downMs = world.nowMs - (world.sidecarDownSinceMs ?? world.nowMs);
    if (firing && downMs > 0 && phase !== "firing") return `${ALERT} is ${phase} while its cause goes on`;
    if (phase === "firing" && lastPhase !== "firing" && downMs + unseenMs < FOR_MS)
      return `${ALERT} fires after ${downMs} ms`;
    lastPhase = phase;
    firing = phase === "firing" && world.sidecarDownSinceMs !== undefined;
    return undefined;
  };

  /** Changes something. Returns how the process ends, if it does. */
  const act = (): "stop" | "kill" | undefined => {
    dense = DENSE_POLLS;
    switch (random.int(8)) {
      case 0:
      case 1: {
        const stepMs = oneOf(random, STEPS_MS, HOUR_MS) * (random.chance(0.5) ? 1 : -1);
        world.aheadMs += stepMs;
        corrected = { atMs: world.nowMs + oneOf(random, [1, 5, 60, 600], 1) * random.int(MINUTE_MS) };
        note(`the clock is set by ${stepMs / 1000} s`);
        return undefined;
      }
      case 2:
        world.nodeAheadMs += oneOf(random, STEPS_MS, HOUR_MS) * (random.chance(0.5) ? 1 : -1);
        note(`the node's clock is ahead by ${world.nodeAheadMs / 1000} s`);
        return undefined;
      case 3:
        [world.good, world.bad, world.nodeStartMs] = [0n, 0n, world.nowMs];
        note("the node restarts");
        return undefined;
      case 4:
        world.nodeSeenMs = world.nodeReadMs + random.int(15 * DAY_MS);
        note(`the node is not seen before ${isoTime(world.nodeSeenMs)}`);
        return undefined;
      case 5:
        world.sidecarDownSinceMs = world.sidecarDownSinceMs === undefined ? world.nowMs : undefined;
        unseenMs = 0;
        note(`the sidecar is ${world.sidecarDownSinceMs === undefined ? "up" : "down"}`);
        return undefined;
      case 6:
        return "stop";
      default:
        return "kill";
    }
  };

  const endMs = startMs + SPAN_MS;
  const settle = (): void => {
    settling = SETTLE_POLLS;
    [world.aheadMs, world.nodeSeenMs] = [0, 0];
    note("all clocks are right");
  };
  for (;;) {
    const end = new AbortController();
    let ending: "stop" | "kill" | undefined;
    const machine = {
      nowMs: () => world.nowMs + world.aheadMs,
      monotonicMs: () => world.nowMs - world.bootMs,
      sleep: async (waitMs: number, signal: WaitSignal) => {
        violation = check();
        if (settling > 0) settling -= 1;
        else if (world.nowMs > endMs) settle();
        if (settling === 0 && random.chance(dense > 0 ? 0.07 : 0.2)) ending = act();
        if (violation !== undefined || settling === 1 || ending !== undefined) {
          end.abort(new Error("the process ends"));
          throw abortReason(signal);
        }
        const shortMs = settling > 0 ? 3 * MINUTE_MS : dense > 0 ? (1 + random.int(4)) * MINUTE_MS : waitMs;
        dense -= 1;
        advance(Math.min(waitMs, Math.max(0, (corrected?.atMs ?? Infinity) - world.nowMs), shortMs));
        if (corrected !== undefined && world.nowMs >= corrected.atMs) {
          [world.aheadMs, corrected, dense] = [0, undefined, DENSE_POLLS];
          note("the clock is right again");
        }
      },
    };
    clock = createBelievedClock(machine);
    const keeper = createStateKeeper({ clock, logger: silentLogger, random: random.next });
    const opened = current();
    saves = [opened];
    lastPhase = phaseOf(opened);
    lastClosed = closedIn(opened);
    firing &&= lastPhase === "firing";
    keeper.open({
      load: () => opened,
      save: (state) => {
        saves = [...saves.slice(-1), state];
      },
      reopen: () => {},
      close: () => {},
    });
    const [validator] = config.validators;
    if (validator === undefined) return "no validator";
    await createPollLoop(config, validator, {
      clock,
      logger: silentLogger,
      poll,
      keeper,
      metrics,
    }).run(end.signal);
    if (ending === undefined || violation !== undefined) break;
    // A process that is killed can have lost its last write, unless it was the first one: then nothing is to be compared.
    if (ending === "kill" && random.chance(0.5) && saves[0] !== EMPTY_STATE) saves = saves.slice(0, 1);
    const downMs = oneOf(random, [0, 5000, HOUR_MS, DAY_MS, 10 * DAY_MS], 0);
    advance(downMs);
    const { aheadMs } = world;
    const isBoot = random.chance(0.5);
    if (isBoot) world.bootMs = world.nowMs - 30_000;
    if (isBoot && random.chance(0.5)) {
      world.aheadMs = -oneOf(random, STEPS_MS, HOUR_MS);
      corrected = { atMs: world.nowMs + 30 * random.int(MINUTE_MS) };
    }
    if ((witness === "nobody" || witness === "at times") && clock.view().problem === "")
      unseenMs += Math.max(0, world.aheadMs - aheadMs);
    note(
      `${ending} for ${downMs / 1000} s, ${isBoot ? "boot" : "same boot"}, clock ahead by ${world.aheadMs / 1000} s`,
    );
  }
  return violation === undefined
    ? undefined
    : `seed ${seed}, time by ${witness}: ${violation} (${log.slice(-6).join("; ")}; now ${isoTime(world.nowMs)})`;
}

/** Steps the clocks of the watchdog's and the node's machine, restarts and kills the watchdog, and compares counts, months and alerts. */
export async function fuzzClocks(seed: number, budget: CampaignBudget): Promise<CampaignReport> {
  const failures: string[] = [];
  let inputs = 0;
  for (const input of inputNumbers(budget, failures)) {
    inputs += 1;
    const violation = await live(seed * 1_000_003 + input);
    if (violation !== undefined) failures.push(`input ${input}: ${violation}`);
  }
  return { inputs, failures };
}
