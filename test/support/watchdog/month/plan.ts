import type { BlockCounts } from "../../../../src/watchdog/ledger/ledger-view.ts";

/**
 * A generated month: October 2026 with four hours before and after it, block by block, for 20 validators. It has a halt, a
 * change of the reward parameters, restarts of nodes and of the watchdog, and 6 hours in which two validators cannot be seen.
 */
export interface MonthPlan {
  readonly startMs: number;
  readonly endMs: number;
  readonly blocks: number;
  /** Header time of block `index`, ms. */
  readonly timeOf: (index: number) => number;
  /** Number of blocks that nodes have at a time. */
  readonly blocksAt: (atMs: number) => number;
  readonly validators: readonly ValidatorPlan[];
  /** The watchdog is stopped and starts again. */
  readonly watchdogDown: Period;
  /** From then on the chain pays by other parameters. */
  readonly paramsChangeMs: number;
}

export interface Period {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface ValidatorPlan {
  readonly name: string;
  readonly nodes: readonly NodePlan[];
}

export interface NodePlan {
  readonly name: string;
  /** Failed calls before block `index`. */
  readonly badBefore: Uint32Array;
  /** The process is down; it starts again at the end. */
  readonly restarts: readonly Period[];
  /** The watchdog cannot reach the node. */
  readonly unreachable: readonly Period[];
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const OCTOBER = Date.UTC(2026, 9, 1);
const NOVEMBER = Date.UTC(2026, 10, 1);
const START = OCTOBER - 4 * HOUR;
const END = NOVEMBER + 4 * HOUR;

const BLOCK_MS = 6000;
/** From the time in the header until nodes have the block. */
const COMMIT_MS = 500;
const HALT: Period = { fromMs: OCTOBER + 9 * DAY, toMs: OCTOBER + 9 * DAY + 2 * HOUR };
/** Blocks around the end of a month are all good: counters cannot say which block of one poll failed. */
const CALM_MS = 30_000;

/** Height of block 0. */
export const FIRST_HEIGHT = 1_000_000;

/** Creates the plan, with the first `size` of its 20 validators. */
export function planMonth(size = 20): MonthPlan {
  const halted = Math.floor((HALT.fromMs - START) / BLOCK_MS);
  const haltMs = HALT.toMs - HALT.fromMs;
  const timeOf = (index: number): number =>
    START + index * BLOCK_MS + (scramble(index) % 2000) + (index >= halted ? haltMs : 0);
  const blocks = Math.floor((END - START - haltMs) / BLOCK_MS);
  const blocksAt = (atMs: number): number => {
    // The halt moves later blocks, so the guess is one of two; the header times decide.
    let count = Math.min(blocks, Math.max(0, Math.floor((atMs - START) / BLOCK_MS) + 2));
    if (atMs >= HALT.fromMs)
      count = Math.min(count, Math.max(halted, Math.floor((atMs - START - haltMs) / BLOCK_MS) + 2));
    while (count > 0 && timeOf(count - 1) + COMMIT_MS > atMs) count -= 1;
    return count;
  };
  const base = { startMs: START, endMs: END, blocks, timeOf, blocksAt };
  return {
    ...base,
    validators: Array.from({ length: size }, (_, index) => planValidator(index, base)),
    watchdogDown: {
      fromMs: OCTOBER + 11 * DAY + 5 * HOUR,
      toMs: OCTOBER + 11 * DAY + 5 * HOUR + 20 * 60_000,
    },
    paramsChangeMs: OCTOBER + 14 * DAY + 7 * HOUR,
  };
}

type Chain = Pick<MonthPlan, "blocks" | "timeOf" | "blocksAt">;

/** Blocks of October that a share allows to miss. */
function allowed(chain: Chain, percent: number): number {
  const total = chain.blocksAt(NOVEMBER + HOUR) - chain.blocksAt(OCTOBER + HOUR);
  const first = firstFrom(chain, OCTOBER);
  const last = firstFrom(chain, NOVEMBER);
  return Math.floor(((total > 0 ? last - first : 0) * percent) / 100);
}

/** First block whose header time is at or after a time. */
function firstFrom({ blocksAt, timeOf }: Chain, atMs: number): number {
  let index = Math.max(0, blocksAt(atMs) - 2);
  while (timeOf(index) < atMs) index += 1;
  return index;
}

const GAP: Period = { fromMs: OCTOBER + 19 * DAY + 1 * HOUR, toMs: OCTOBER + 19 * DAY + 7 * HOUR };

/** What happens to a validator, by its number. The others miss a few random blocks. */
function planValidator(index: number, chain: Chain): ValidatorPlan {
  const node = (name: string, miss: MissPlan, more: Partial<NodePlan> = {}): NodePlan => ({
    name,
    badBefore: countMisses(chain, miss),
    restarts: [],
    unreachable: [],
    ...more,
  });
  const name = `validator-${String(index).padStart(2, "0")}`;
  const at = (day: number, hour: number, forMs: number): Period => ({
    fromMs: OCTOBER + day * DAY + hour * HOUR + 1234,
    toMs: OCTOBER + day * DAY + hour * HOUR + 1234 + forMs,
  });
  const outage = (count: number): MissPlan => ({
    seed: 0,
    oneIn: 0,
    outages: [[chain.blocksAt(OCTOBER + 5 * DAY), count]],
  });
  const random = (oneIn: number): MissPlan => ({ seed: index, oneIn, outages: [] });
  const plans: Readonly<Record<number, () => readonly NodePlan[]>> = {
    0: () => [node("node", outage(0))],
    1: () => [node("node", outage(allowed(chain, 2)))],
    2: () => [node("node", outage(allowed(chain, 2) + 1))],
    3: () => [node("node", outage(allowed(chain, 5)))],
    4: () => [node("node", outage(allowed(chain, 5) + 1))],
    5: () => [node("node", random(30), { restarts: [at(3, 2, 45_000)] })],
    6: () => [node("node", random(200), { restarts: [at(7, 11, 1_800_000), at(22, 3, 20_000)] })],
    7: () => [node("node", random(500), { unreachable: [GAP] })],
    8: () => [node("node", random(50), { unreachable: [GAP], restarts: [at(19, 4, 60_000)] })],
    // Two nodes: each is without its sidecar for a day, one after the other.
    9: () => [
      node("a", { seed: 0, oneIn: 0, outages: [[chain.blocksAt(OCTOBER + 4 * DAY), DAY / BLOCK_MS]] }),
      node("b", { seed: 0, oneIn: 0, outages: [[chain.blocksAt(OCTOBER + 8 * DAY), DAY / BLOCK_MS / 2]] }),
    ],
    10: () => [
      node("node", {
        seed: 3,
        oneIn: 1000,
        outages: [[chain.blocksAt(OCTOBER + 27 * DAY), 3 * (HOUR / BLOCK_MS)]],
      }),
    ],
  };
  return { name, nodes: plans[index]?.() ?? [node("node", random(20 + index * 10))] };
}

interface MissPlan {
  readonly seed: number;
  /** One block in so many is missed at random; 0: none. */
  readonly oneIn: number;
  /** First block and number of blocks. */
  readonly outages: readonly (readonly [number, number])[];
}

/** Failed calls before each block. */
function countMisses({ blocks, timeOf }: Chain, { seed, oneIn, outages }: MissPlan): Uint32Array {
  // First the misses of each block, then their sum.
  const before = new Uint32Array(blocks + 1);
  for (const [from, count] of outages) before.fill(1, from + 1, from + count + 1);
  if (oneIn > 0)
    for (let index = 0; index < blocks; index++)
      if (scramble(index * 31 + seed * 7919) % oneIn === 0 && !isCalm(timeOf(index))) before[index + 1] = 1;
  for (let index = 0; index < blocks; index++)
    before[index + 1] = (before[index] ?? 0) + (before[index + 1] ?? 0);
  return before;
}

function isCalm(timeMs: number): boolean {
  return [OCTOBER, NOVEMBER].some((edgeMs) => Math.abs(timeMs - edgeMs) < CALM_MS);
}

/** A fixed number for each number, evenly distributed over 32 bits. */
function scramble(value: number): number {
  let mixed = Math.imul(value ^ 0x9e37_79b9, 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** Name of the month, without the cost of a date for every block. */
function nameOf(timeMs: number): string {
  if (timeMs < OCTOBER) return "2026-09";
  return timeMs < NOVEMBER ? "2026-10" : "2026-11";
}

/**
 * Counts what the watchdog must have counted, block by block, by month of the header time. `lastPollBefore` returns the last
 * poll of the node before a time: what the node counted after it is lost in a restart.
 */
export function expectedCounts(
  plan: MonthPlan,
  validator: ValidatorPlan,
  lastPollBefore: (node: NodePlan, atMs: number) => number,
): ReadonlyMap<string, BlockCounts> {
  const [first, second] = validator.nodes;
  const months = new Map<string, { good: bigint; bad: bigint; unknown: bigint }>();
  const lost = (first?.restarts ?? []).map(
    ({ fromMs, toMs }): Period => ({
      fromMs: first === undefined ? fromMs : lastPollBefore(first, fromMs),
      toMs,
    }),
  );
  for (let index = 0; index < plan.blocks; index++) {
    const timeMs = plan.timeOf(index);
    const hasMs = timeMs + COMMIT_MS;
    const month = nameOf(timeMs);
    const counts = months.get(month) ?? { good: 0n, bad: 0n, unknown: 0n };
    months.set(month, counts);
    const failed = validator.nodes.every(
      ({ badBefore }) => (badBefore[index + 1] ?? 0) > (badBefore[index] ?? 0),
    );
    if (second === undefined && lost.some(({ fromMs, toMs }) => hasMs > fromMs && hasMs <= toMs))
      counts.unknown += 1n;
    else if (failed) counts.bad += 1n;
    else counts.good += 1n;
  }
  return months;
}
