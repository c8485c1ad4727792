import type { Clock } from "../../platform/base/clock.ts";
import { formatRoundedDuration, stepText } from "../../platform/base/text.ts";
import { isoTime, MINUTE_MS } from "../../platform/base/time.ts";
import type { ClockView, Witness } from "../sources/observation.ts";

/**
 * The clock that the watchdog uses for all its decisions. When the machine's clock is set, `nowMs` keeps following the monotonic
 * clock until there is evidence that the new time is right.
 */
export interface BelievedClock extends Clock {
  /**
   * Compares the machine's clock with a poll's evidence. Returns by how many ms `nowMs` was corrected (usually 0), so that the
   * caller can shift stored times equally. The first call returns a negative value if stored times are in the future.
   */
  readonly compare: (evidence: ClockEvidence) => number;
  /** Returns `Observation.clock`, and the number of times the clock has been moved so far. */
  readonly view: () => ClockView & { readonly changes: number };
}

interface ClockEvidence {
  /** `Date` headers of the sources' responses, with the times at which the headers were read. */
  readonly dates: readonly Witness[];
  /** Time of the chain's newest block, a lower bound for the current time; undefined while the block cannot be read. */
  readonly chainMs: number | undefined;
  /**
   * Time of the last stored poll, which cannot be later than the current time; undefined if no poll is stored. Only the first call of
   * `compare` uses this time.
   */
  readonly lastPollMs: number | undefined;
}

/** Times that differ by less than this are treated as equal, because a slow chain's newest block may be this old. */
const TOLERANCE_MS = MINUTE_MS;

/** A smaller difference between two clocks is drift; a larger one means that a clock was set. */
const DRIFT_MS = 2000;

/**
 * How long to wait before accepting a new time that only the sources' clocks confirm, because these may all run on one machine. The
 * alert about the clock fires earlier.
 */
const CONFIRM_MS = 15 * MINUTE_MS;

/** Ignore a source's clock that shows a time before 2026, because such a clock was never set. */
const NEVER_SET_MS = Date.UTC(2026, 0, 1);

/** Ignore `Date` headers older than this, because the server's clock may have been set since then. */
const REMEMBERED_MS = 5 * MINUTE_MS;

/** What confirms or refutes a candidate for the current time. A candidate close to the newest block's time needs no other evidence. */
type Standing = "chain" | "sources" | "alone" | "refuted";

/** Creates a {@link BelievedClock} that trusts the machine's clock until the first call of `compare`. */
export function createBelievedClock(machine: Clock): BelievedClock {
  // Round to whole milliseconds, as in stored times, because the monotonic clock has fractions.
  const nowMs = (): number => Math.round(offsetMs + machine.monotonicMs());
  const offset = (): number => Math.round(machine.nowMs() - machine.monotonicMs());
  let offsetMs = offset();
  /** The machine clock's current offset from the monotonic clock, and the monotonic time when the machine's clock was last set. */
  let seen = { offsetMs, sinceMs: machine.monotonicMs() };
  let believedSinceMs: number | undefined = machine.monotonicMs();
  let problem = "";
  /** True while `nowMs` is only a best guess, i.e. until a comparison confirms it. */
  let isGuess = true;
  let floor: { readonly atMs: number } | undefined;
  let hosts: ReadonlyMap<string, Witness> = new Map();
  /** Lower bound of the offset, derived from the newest block that was last read. */
  let boundMs = Number.NEGATIVE_INFINITY;
  let change: string | undefined;
  let changes = 0;
  const record = (text: string): void => {
    change = text;
    changes += 1;
  };
  const moveTo = (next: number): number => {
    const movedMs = Math.round(next) - offsetMs;
    offsetMs = Math.round(next);
    return Math.abs(movedMs) > DRIFT_MS ? movedMs : 0;
  };
  const believe = (): number => {
    const movedMs = moveTo(seen.offsetMs);
    const isSmall = Math.abs(movedMs) <= TOLERANCE_MS;
    if (problem === "" && movedMs !== 0) record(`the clock of this machine was set ${stepText(movedMs)}`);
    if (problem !== "" || believedSinceMs === undefined || !isSmall) believedSinceMs = machine.monotonicMs();
    problem = "";
    isGuess = false;
    return movedMs;
  };
  const doubt = (text: string, next: number): number => {
    if (problem === "") record(`the clock of this machine is not believed: ${text}`);
    problem = text;
    believedSinceMs = undefined;
    return moveTo(next);
  };
  const compare = (evidence: ClockEvidence): number => {
    if (floor !== undefined) return weigh(evidence, floor.atMs);
    floor = { atMs: evidence.lastPollMs ?? Number.NEGATIVE_INFINITY };
    weigh(evidence, floor.atMs);
    const backMs = Math.round(nowMs() - floor.atMs);
    return backMs < -DRIFT_MS ? backMs : 0;
  };
  const weigh = ({ dates, chainMs: headMs }: ClockEvidence, floorMs: number): number => {
    const readMs = machine.monotonicMs();
    const latest = [...hosts.values(), ...dates].filter((one) => readMs - one.readMs <= REMEMBERED_MS);
    hosts = new Map(latest.map((one) => [one.host, one]));
    if (Math.abs(offset() - seen.offsetMs) > DRIFT_MS) seen = { offsetMs: offset(), sinceMs: readMs };
    seen = { ...seen, offsetMs: offset() };
    // Compare offsets from the monotonic clock, because the times themselves were read at different moments.
    const witnesses = [...hosts.values()]
      .filter((one) => one.timeMs >= NEVER_SET_MS)
      .map((one) => one.timeMs - one.readMs);
    const chainMs = headMs === undefined ? undefined : headMs - readMs;
    boundMs = chainMs ?? boundMs;
    const leastMs = Math.max(boundMs, floorMs - readMs);
    const standingOf = (one: number): Standing => {
      if (chainMs !== undefined && isNear(one, chainMs)) return "chain";
      if (chainMs !== undefined && one < chainMs) return "refuted";
      if (witnesses.length === 0) return "alone";
      return witnesses.some((date) => isNear(one, date)) ? "sources" : "refuted";
    };
    const own = standingOf(seen.offsetMs);
    const isBehind = seen.offsetMs < leastMs - TOLERANCE_MS;
    const isStepped = !isNear(seen.offsetMs, offsetMs);
    if (own === "chain") return believe();
    if (isGuess) {
      if (own !== "refuted" && !isBehind) return believe();
      const later = [...witnesses, seen.offsetMs].filter((one) => one >= leastMs - TOLERANCE_MS);
      const best = later.includes(Math.max(...witnesses))
        ? Math.max(...witnesses)
        : Math.max(leastMs, ...later);
      const text = isBehind
        ? behindText(seen.offsetMs + readMs, leastMs + readMs)
        : refutedText(seen.offsetMs, witnesses);
      return doubt(text, isNear(best, offsetMs) && problem !== "" ? offsetMs : best);
    }
    // The chain's newest block is later than `nowMs`, so move the clock forward to the block's time.
    if (standingOf(offsetMs) === "refuted" && chainMs !== undefined && offsetMs < chainMs - TOLERANCE_MS)
      return doubt(behindText(seen.offsetMs + readMs, chainMs + readMs), chainMs);
    if (own === "refuted") return doubt(refutedText(seen.offsetMs, witnesses), offsetMs);
    const isConfirmed = readMs - seen.sinceMs >= CONFIRM_MS && standingOf(offsetMs) !== "chain";
    if (!isStepped || isConfirmed) return believe();
    return doubt(`it was set ${stepText(seen.offsetMs - offsetMs)} while the watchdog ran`, offsetMs);
  };
  return {
    nowMs,
    monotonicMs: machine.monotonicMs,
    sleep: machine.sleep,
    compare,
    view: () => ({
      ...(believedSinceMs === undefined ? {} : { believedSinceMs: Math.round(offsetMs + believedSinceMs) }),
      problem,
      ...(change === undefined ? {} : { change }),
      changes,
    }),
  };
}

function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) <= TOLERANCE_MS;
}

function behindText(wallMs: number, leastMs: number): string {
  const latest = isoTime(leastMs);
  return `it is at ${isoTime(wallMs)}, ${formatRoundedDuration(leastMs - wallMs)} before the last poll or block, which was at ${latest}`;
}

function refutedText(own: number, witnesses: readonly number[]): string {
  const nearest = witnesses.reduce(
    (best, one) => (Math.abs(one - own) < Math.abs(best - own) ? one : best),
    Infinity,
  );
  const side = own > nearest ? "ahead of" : "behind";
  return `it is ${formatRoundedDuration(Math.abs(own - nearest))} ${side} the clock of every source`;
}
