import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/platform/base/time.ts";
import { type Month, monthOf, monthStartMs, nextMonthMs } from "../../../src/platform/base/month.ts";
import type { NodeObservation, Observation, Seen } from "../../../src/watchdog/sources/observation.ts";
import { formatRoundedDuration } from "../../../src/platform/base/text.ts";
import type { SuccessRate } from "../../../src/watchdog/policy/reward-tier.ts";
import { type AlertingState, EMPTY_ALERTING } from "../../../src/watchdog/alerts/plan-alerts.ts";
import { alertOnPoll } from "../../../src/watchdog/polling/evaluation.ts";
import type { AlertRule } from "../../../src/watchdog/conditions/condition.ts";
import { EMPTY_HISTORY } from "../../../src/watchdog/conditions/poll-history.ts";
import {
  blockTimeMs,
  countObservation,
  EMPTY_LEDGER,
  memoryView,
} from "../../../src/watchdog/ledger/ledger.ts";
import type { AlertEvent } from "../../../src/watchdog/alerts/alert-event.ts";
import type { ReminderTimes } from "../../../src/watchdog/alerts/notifications.ts";
import { assess, type AssessmentInput } from "../../../src/watchdog/policy/assess.ts";
import { type Assessment, SPECIFIED_POLICY } from "../../../src/watchdog/policy/assessment.ts";

/** A generated month of one validator. */
export interface GeneratedMonth {
  /** "one outage of 26 h". */
  readonly kind: string;
  /** What somebody can end by acting, oldest first; empty: nobody has to do anything. */
  readonly troubles: readonly Trouble[];
}

/** A time with a failure. */
interface Trouble {
  readonly fromMs: number;
  readonly toMs: number;
  readonly effect: Effect;
  /** The failure is on for `onMs` of each `everyMs`. Absent: all the time. */
  readonly repeats?: { readonly everyMs: number; readonly onMs: number };
}

/** What a failure changes. */
interface Effect {
  /** Share of the node's calls that fail; else that of single misses. */
  readonly badShare?: number;
  readonly prices?: "refused" | "slow" | "without majors";
  /** Neither node nor sidecar respond, and the validator signs nothing. */
  readonly isDown?: true;
  /** The chain makes no block. */
  readonly isHalted?: true;
}

/** The month that is generated. Its blocks come every 6 s. */
const GENERATED_MONTH: Month = "2026-10";
const START_MS = monthStartMs(GENERATED_MONTH);
/** End of the generated month. */
const GENERATED_END_MS = nextMonthMs(START_MS);
const BLOCK_MS = 6000;
/** Bad blocks among those without a failure: single ones. */
const SINGLE_MISSES = 1 / 5000;
/** Good days before the month. */
const DAYS_BEFORE = 3;
/** Time between two polls while a failure is on or has just changed. */
const QUICK_MS = MINUTE_MS;
/** Time between two other polls. */
const CALM_POLL_MS = 30 * MINUTE_MS;
/** Time after a change of a failure in which polls are quick. */
const AROUND_MS = 30 * MINUTE_MS;

const DOWN: Effect = { badShare: 1, prices: "refused" };

function on(day: number, hour: number, hours: number, effect: Effect): Trouble {
  const fromMs = START_MS + (day - 1) * DAY_MS + hour * HOUR_MS;
  return { fromMs, toMs: fromMs + hours * HOUR_MS, effect };
}

/** One month of each kind. */
export const GENERATED_MONTHS: readonly GeneratedMonth[] = [
  { kind: "healthy, with single misses", troubles: [] },
  { kind: "sidecar down for 26 h on the 3rd", troubles: [on(3, 2, 26, DOWN)] },
  {
    kind: "sidecar down for 4 of each 40 min, 12 h long",
    troubles: [{ ...on(12, 6, 12, DOWN), repeats: { everyMs: 40 * MINUTE_MS, onMs: 4 * MINUTE_MS } }],
  },
  {
    kind: "sidecar restarts every 2 min, for 6 h",
    troubles: [{ ...on(9, 1, 6, DOWN), repeats: { everyMs: 2 * MINUTE_MS, onMs: MINUTE_MS } }],
  },
  { kind: "9 % of the calls fail from the 11th on", troubles: [on(11, 0, 21 * 24, { badShare: 0.09 })] },
  { kind: "3 % of the calls fail all month", troubles: [on(1, 0, 31 * 24, { badShare: 0.03 })] },
  { kind: "sidecar down for 3 h on the 1st", troubles: [on(1, 1, 3, DOWN)] },
  { kind: "sidecar down for 8 h on the 28th", troubles: [on(28, 3, 8, DOWN)] },
  {
    kind: "sidecar slow for 8 h: 40 % of the calls fail",
    troubles: [on(15, 10, 8, { badShare: 0.4, prices: "slow" })],
  },
  { kind: "major pairs missing for 5 h", troubles: [on(18, 10, 5, { prices: "without majors" })] },
  { kind: "machine down for 5 h", troubles: [on(20, 2, 5, { isDown: true })] },
  { kind: "sidecar down for 20 h, and for 18 h", troubles: [on(5, 0, 20, DOWN), on(20, 8, 18, DOWN)] },
  { kind: "chain halted for 3 h", troubles: [on(15, 12, 3, { isHalted: true })] },
];

/** Generates the polls of a month and of the days before it, oldest first. Deterministic. */
function* generatedPolls({ troubles }: GeneratedMonth): Generator<Observation> {
  const random = createRandom();
  const world: World = { height: 1_000_000n, chainHeight: 1_000_000n, signed: 1_000_000n, good: 0n, bad: 0n };
  let beforeMs = START_MS - DAYS_BEFORE * DAY_MS;
  const startMs = beforeMs;
  for (const atMs of pollTimes(troubles, startMs)) {
    advance(world, effectAt(troubles, beforeMs), blocksBetween(beforeMs, atMs, startMs), random);
    yield observe(world, effectAt(troubles, atMs), atMs, startMs);
    beforeMs = atMs;
  }
}

function blocksBetween(fromMs: number, toMs: number, startMs: number): bigint {
  return BigInt(Math.floor((toMs - startMs) / BLOCK_MS) - Math.floor((fromMs - startMs) / BLOCK_MS));
}

function effectAt(troubles: readonly Trouble[], atMs: number): Effect {
  const trouble = troubles.find(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs);
  if (trouble === undefined) return {};
  const { repeats, effect, fromMs } = trouble;
  return repeats === undefined || (atMs - fromMs) % repeats.everyMs < repeats.onMs ? effect : {};
}

/** Times of polls: a change of a failure is always at one. */
function pollTimes(troubles: readonly Trouble[], startMs: number): readonly number[] {
  const times: number[] = [];
  for (let atMs = startMs + CALM_POLL_MS; atMs < GENERATED_END_MS; ) {
    times.push(atMs);
    const isQuick = troubles.some(
      ({ fromMs, toMs, repeats }) =>
        (atMs >= fromMs - CALM_POLL_MS && atMs < (repeats === undefined ? fromMs + AROUND_MS : toMs)) ||
        (atMs >= toMs - CALM_POLL_MS && atMs < toMs + AROUND_MS),
    );
    atMs += isQuick ? QUICK_MS : CALM_POLL_MS;
  }
  return times;
}

/** Counters of chain and validator. */
interface World {
  height: bigint;
  chainHeight: bigint;
  signed: bigint;
  good: bigint;
  bad: bigint;
}

function advance(world: World, effect: Effect, blocks: bigint, random: () => number): void {
  if (effect.isHalted === true) return;
  world.chainHeight += blocks;
  if (effect.isDown === true) return;
  world.height = world.chainHeight;
  world.signed = world.chainHeight;
  // Rounded up or down by chance, so that a small share is right in the mean.
  const bad = BigInt(Math.floor(Number(blocks) * (effect.badShare ?? SINGLE_MISSES) + random()));
  world.bad += bad < blocks ? bad : blocks;
  world.good += bad < blocks ? blocks - bad : 0n;
}

const NOT_CONFIGURED = { state: "not-configured" } as const;
const MAJORS = ["BTC/USD", "ETH/USD", "NTRN/USD"];

function observe(world: World, effect: Effect, atMs: number, startMs: number): Observation {
  return {
    validator: "generated",
    atMs,
    nodes: [nodeOf(world, effect, atMs, startMs)],
    chain: {
      head: up({ chainId: "generated-1", height: world.chainHeight, blockTimeMs: atMs - 1000 }),
      validator: up({ size: 20, isInSet: true, votingPower: 10n, signedLatest: effect.isDown !== true }),
      prices: NOT_CONFIGURED,
      revenue: NOT_CONFIGURED,
    },
  };
}

function nodeOf(world: World, effect: Effect, atMs: number, startMs: number): NodeObservation {
  const { height, signed, good: success, bad: failure } = world;
  const pairs = effect.prices === "without majors" ? ["USDT/USD"] : [...MAJORS, "USDT/USD"];
  const isGone = effect.isDown === true;
  return {
    name: "node",
    metrics: isGone
      ? refused()
      : up({
          chainId: "generated-1",
          success,
          failure,
          height,
          lastSignedHeight: signed,
          votingPower: 10n,
          processStartMs: startMs,
        }),
    prices:
      isGone || effect.prices === "refused"
        ? refused()
        : up(
            { pairs, prices: new Map(), tickedAtMs: atMs - 100, version: "v1.3.1", url: "" },
            effect.prices === "slow" ? 900 : 5,
          ),
    oracleMetrics: NOT_CONFIGURED,
    sidecar: NOT_CONFIGURED,
    grpc: NOT_CONFIGURED,
    egress: new Map(),
  };
}

function up<T>(value: T, durationMs = 5): Seen<T> {
  return { state: "up", value, durationMs };
}

function refused(): Seen<never> {
  return { state: "error", failure: { code: "refused", text: "connection refused" }, durationMs: 1 };
}

/** The mulberry32 generator, from a fixed seed. */
function createRandom(): () => number {
  let state = 20_261_001;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Rules that are applied to the generated months. */
export interface GeneratedOptions {
  readonly rules: readonly AlertRule[];
  readonly graceMs: number;
  readonly reminders: ReminderTimes;
  /** Replaces the assessment of a poll. Absent: it stays. */
  readonly reassess?: (assessment: Assessment, input: AssessmentInput) => Assessment;
}

/** What the rules notify in one generated month. */
export interface PlayedMonth {
  readonly kind: string;
  /** Rate at the end. */
  readonly rate: SuccessRate | undefined;
  /** Critical notifications, reminders among them. */
  readonly pages: number;
  readonly reminders: number;
  /** Alerts that are no page and notify. */
  readonly tickets: number;
  /** Critical notifications after the end of the last failure. */
  readonly late: number;
  /** Longest time from the begin of a failure to its first page; undefined when one had none. */
  readonly pageAfterMs: number | undefined;
  /** The same to the first notification of any severity. */
  readonly ticketAfterMs: number | undefined;
  /** Names of the alerts that paged. */
  readonly paged: readonly string[];
}

/** Plays a generated month to each set of rules. About 2,000 polls, which are counted once for all. */
export function playGenerated(
  month: GeneratedMonth,
  variants: readonly GeneratedOptions[],
): readonly PlayedMonth[] {
  const players = variants.map(createPlayer);
  let rate: SuccessRate | undefined;
  for (const poll of countedPolls(month)) {
    ({ rate } = poll.assessment);
    for (const { play } of players) play(poll);
  }
  return players.map(({ events }) => toPlayedMonth(month, events, rate));
}

function toPlayedMonth(
  month: GeneratedMonth,
  events: readonly AlertEvent[],
  rate: SuccessRate | undefined,
): PlayedMonth {
  const begun = events.filter(({ kind }) => kind !== "resolved");
  const pages = begun.filter(({ severity }) => severity === "critical");
  const lastMs = Math.max(0, ...month.troubles.map(({ toMs }) => toMs));
  return {
    kind: month.kind,
    rate,
    pages: pages.length,
    reminders: pages.filter(({ kind }) => kind === "reminder").length,
    tickets: begun.length - pages.length,
    late: pages.filter(({ atMs }) => atMs > lastMs).length,
    pageAfterMs: firstAfter(month, pages),
    ticketAfterMs: firstAfter(month, begun),
    paged: [...new Set(pages.map(({ alert }) => alert))],
  };
}

function firstAfter({ troubles }: GeneratedMonth, events: readonly AlertEvent[]): number | undefined {
  const times = troubles.map(({ fromMs, toMs }) => {
    const first = events.find(({ atMs, kind }) => kind === "firing" && atMs >= fromMs && atMs <= toMs);
    return first === undefined ? Infinity : first.atMs - fromMs;
  });
  const longest = Math.max(...times);
  return Number.isFinite(longest) ? longest : undefined;
}

/** A poll after its blocks were counted. */
interface CountedPoll {
  readonly observation: Observation;
  readonly input: AssessmentInput;
  readonly assessment: Assessment;
}

function* countedPolls(month: GeneratedMonth): Generator<CountedPoll> {
  const options = { intervalMs: CALM_POLL_MS, gapMs: 3 * CALM_POLL_MS };
  let ledger = EMPTY_LEDGER;
  for (const observation of generatedPolls(month)) {
    ({ ledger } = countObservation(ledger, observation, options));
    const input = {
      ledger: memoryView(observation.validator, ledger),
      nowMs: observation.atMs,
      policy: SPECIFIED_POLICY,
      blockTimeMs: blockTimeMs(ledger),
    };
    yield { observation, input, assessment: assess(input) };
  }
}

/** One set of rules during a month. */
interface Player {
  readonly play: (poll: CountedPoll) => void;
  /** Notifications in the generated month. */
  readonly events: readonly AlertEvent[];
}

function createPlayer({ rules, graceMs, reminders, reassess }: GeneratedOptions): Player {
  const alerts = {
    rules,
    graceMs,
    reminders,
    channels: [],
    maintenance: [],
    runbooks: "",
    majorPairs: ["BTC/USD", "ETH/USD", "NTRN/USD"],
    intervalMs: CALM_POLL_MS,
  };
  const events: AlertEvent[] = [];
  let history = EMPTY_HISTORY;
  let state: AlertingState = EMPTY_ALERTING;
  const play = ({ observation, input, assessment: common }: CountedPoll): void => {
    const assessment = reassess?.(common, input) ?? common;
    const plan = alertOnPoll(state, { observation, ledger: input.ledger, assessment }, history, alerts);
    ({ state, history } = plan);
    if (monthOf(observation.atMs) === GENERATED_MONTH) events.push(...plan.events);
  };
  return { play, events };
}

/** Formats a time; "–" when there was none. */
export function timeText(timeMs: number | undefined): string {
  return timeMs === undefined ? "–" : formatRoundedDuration(timeMs);
}
