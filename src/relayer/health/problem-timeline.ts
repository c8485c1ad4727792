import { DAY_MS } from "../../platform/base/time.ts";
import { numberOf, type SqlValue, textOf } from "../../platform/storage/sql-database.ts";
import type { RelayerStore } from "../state/store.ts";
import { type Problem, PROBLEM_CODES, type ProblemCode } from "./problems.ts";

/** A period in which a process ran or a problem existed, as Unix times in ms. */
export interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface ProblemSpan extends Span {
  readonly code: ProblemCode;
  /** The affected connection's id; empty if the whole relayer is affected. */
  readonly connectionId: string;
  /** The problem's description when it was last seen. */
  readonly reason: string;
}

/** Records the problems of the last eight days and their times, across restarts. */
export type ProblemTimeline = ReturnType<typeof createProblemTimeline>;

/** Age at which recorded periods (spans) are deleted. */
const STORED_MS = 8 * DAY_MS;
/**
 * Maximum number of stored runs, and of stored problems. Beyond this number, all runs and problems that ended before a common
 * cutoff time are deleted.
 */
const MAX_SPANS = 2_000;
/** A problem that recurs within this time is recorded as one problem, as in the problem log. */
const CALM_MS = 15_000;
/** A process that records nothing for longer than this was suspended or not running. */
const MAX_PAUSE_MS = 30_000;
/** Interval at which open spans are written. A killed process loses at most this much of its last run. */
const SAVE_MS = 15_000;
const MAX_REASON = 300;

interface OpenSpan {
  readonly fromMs: number;
  untilMs: number;
}

interface OpenProblem extends OpenSpan {
  readonly code: ProblemCode;
  readonly connectionId: string;
  reason: string;
}

export interface TimelineDeps {
  readonly chainId: string;
  /** Bech32 address of the relayer's account, since each account has its own timeline. */
  readonly account: string;
  readonly store: Pick<RelayerStore, "queue" | "session">;
  readonly nowMs: () => number;
  /**
   * Returns the local chain's time as Unix time in ms; defaults to this machine's time. Chain time prevents early deletion of spans
   * if this machine's clock is fast.
   */
  readonly localTimeMs?: () => number;
}

/** Creates one relayer's timeline, which is empty until `load` is called. */
export function createProblemTimeline(deps: TimelineDeps) {
  const { store, nowMs, localTimeMs = nowMs } = deps;
  const key = [deps.chainId, deps.account] as const;
  let runs: OpenSpan[] = [];
  let problems: OpenProblem[] = [];
  /** The span of this process's current run. `open` contains the problems that currently exist, by code and connection. */
  let run: OpenSpan | undefined;
  const open = new Map<string, OpenProblem>();
  let savedMs = Number.NEGATIVE_INFINITY;

  const push = (sql: string, values: readonly SqlValue[]): void =>
    store.queue.push(async (session) => {
      await session.run(sql, values);
    });
  const saveProblem = ({ code, connectionId, fromMs, untilMs, reason }: OpenProblem): void =>
    push(PUT_PROBLEM, [...key, code, connectionId, fromMs, untilMs, reason]);
  const save = (): void => {
    if (run === undefined) return;
    savedMs = nowMs();
    push(PUT_RUN, [...key, run.fromMs, run.untilMs]);
    for (const problem of open.values()) saveProblem(problem);
  };
  const prune = (atMs: number): void => {
    const cutMs = Math.max(
      atMs - STORED_MS,
      (runs.at(-MAX_SPANS) ?? NEVER).untilMs,
      (problems.at(-MAX_SPANS) ?? NEVER).fromMs,
    );
    if (!runs.some(({ untilMs }) => untilMs < cutMs) && !problems.some(({ untilMs }) => untilMs < cutMs))
      return;
    runs = runs.filter(({ untilMs }) => untilMs >= cutMs);
    problems = problems.filter(({ untilMs }) => untilMs >= cutMs);
    for (const table of ["run_span", "problem_span"])
      push(`DELETE FROM ${table} WHERE chain = ? AND account = ? AND until_ms < ?`, [...key, cutMs]);
  };
  const recordRun = (atMs: number): void => {
    const isNew = run === undefined || atMs - run.untilMs > MAX_PAUSE_MS || atMs < run.untilMs - MAX_PAUSE_MS;
    if (run !== undefined && !isNew) run.untilMs = Math.max(run.untilMs, atMs);
    else {
      save();
      open.clear();
      run = { fromMs: atMs, untilMs: atMs };
      runs.push(run);
      save();
    }
  };
  const recordProblem = ({ code, connectionId = "", text }: Problem, atMs: number): void => {
    const name = `${code} ${connectionId}`;
    const reason = text.slice(0, MAX_REASON);
    const known = open.get(name);
    if (known !== undefined) {
      known.untilMs = atMs;
      known.reason = reason;
      return;
    }
    const problem = { code, connectionId, fromMs: atMs, untilMs: atMs, reason };
    open.set(name, problem);
    problems.push(problem);
    saveProblem(problem);
  };
  return {
    /** Reads the spans that earlier processes stored. */
    load: async (): Promise<void> => {
      const where = "WHERE chain = ? AND account = ? ORDER BY from_ms";
      const runRows = await store.session.run(`SELECT * FROM run_span ${where}`, key);
      const rows = await store.session.run(`SELECT * FROM problem_span ${where}`, key);
      const own = new Set([run?.fromMs, ...[...open.values()].map(({ fromMs }) => fromMs)]);
      const storedRuns = runRows.map((row) => ({
        fromMs: numberOf(row, "from_ms"),
        untilMs: numberOf(row, "until_ms"),
      }));
      const stored = rows.flatMap((row): OpenProblem[] => {
        // A newer program version may have stored an unknown code.
        const code = PROBLEM_CODES.find((known) => known === textOf(row, "code"));
        if (code === undefined) return [];
        return [
          {
            code,
            connectionId: textOf(row, "connection_id") ?? "",
            fromMs: numberOf(row, "from_ms"),
            untilMs: numberOf(row, "until_ms"),
            reason: textOf(row, "reason") ?? "",
          },
        ];
      });
      runs = [...storedRuns.filter(({ fromMs }) => !own.has(fromMs)), ...(run === undefined ? [] : [run])];
      problems = [...stored.filter(({ fromMs }) => !own.has(fromMs)), ...open.values()];
    },
    /** Records the current problems. Call `record` every second. */
    record: (present: readonly Problem[]): void => {
      const atMs = nowMs();
      recordRun(atMs);
      for (const [name, problem] of open) {
        if (atMs - problem.untilMs < CALM_MS) continue;
        open.delete(name);
        saveProblem(problem);
      }
      for (const problem of present) recordProblem(problem, atMs);
      if (atMs - savedMs >= SAVE_MS || atMs < savedMs) save();
      prune(Math.min(atMs, localTimeMs()));
    },
    /** Stores the open spans with their current duration. */
    save,
    /** Returns the recorded problems, oldest first. */
    problems: (): readonly ProblemSpan[] => problems,
    /** Returns the periods in which a process ran, oldest first. Problems outside these periods are unknown. */
    runs: (): readonly Span[] => runs,
  };
}

const NEVER = { fromMs: Number.NEGATIVE_INFINITY, untilMs: Number.NEGATIVE_INFINITY };

const PUT_RUN =
  "INSERT INTO run_span (chain, account, from_ms, until_ms) VALUES (?, ?, ?, ?) " +
  "ON CONFLICT (chain, account, from_ms) DO UPDATE SET until_ms = excluded.until_ms";
const PUT_PROBLEM =
  "INSERT INTO problem_span (chain, account, code, connection_id, from_ms, until_ms, reason) VALUES (?, ?, ?, ?, ?, ?, ?) " +
  "ON CONFLICT (chain, account, code, connection_id, from_ms) DO UPDATE SET until_ms = excluded.until_ms, reason = excluded.reason";

/** Returns how much of a time range the spans cover, in ms. Spans may overlap. */
export function coveredMs(spans: readonly Span[], { fromMs, untilMs }: Span): number {
  let [sum, reachedMs] = [0, fromMs];
  for (const span of spans.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const start = Math.max(span.fromMs, reachedMs);
    const end = Math.min(span.untilMs, untilMs);
    if (end > start) sum += end - start;
    reachedMs = Math.max(reachedMs, end);
  }
  return sum;
}
