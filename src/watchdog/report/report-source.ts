import { existsSync } from "node:fs";
import { join } from "node:path";
import type { OracleReportSource } from "./report-data.ts";
import type { AlertEpisode, ValidatorData } from "./validator-data.ts";
import type { Acknowledgement, AlertState, PastAlert } from "../alerts/alert-state.ts";
import { CONDITIONS } from "../conditions/conditions.ts";
import { joinedView, type LedgerView } from "../ledger/ledger-view.ts";
import { type LedgerFile, openLedgerFile, STATE_FILE } from "../state/sqlite-state.ts";
import type { WatchdogStatus } from "../polling/watchdog-status.ts";

interface ReportedWatchdog {
  /** Returns the status of each validator at its last poll. */
  readonly statuses: () => readonly WatchdogStatus[];
  /** Returns a validator's counts from memory; undefined before the validator's first reading. */
  readonly ledger: (validator: string) => LedgerView | undefined;
  /** Returns all validators' past and firing alerts, oldest first. */
  readonly alertHistory: () => readonly PastAlert[];
}

/**
 * Creates the source of a running watchdog's report data. Recent counts are read from memory. If `stateDir` is given, older counts
 * are read from the state file, which contains the last 400 days by hour.
 */
export function createWatchdogReports(
  watchdog: () => ReportedWatchdog,
  stateDir: string | undefined,
  nowMs: () => number,
  open: (folder: string) => LedgerFile = openLedgerFile,
) {
  let file: LedgerFile | undefined;
  const close = (): void => {
    const last = file;
    file = undefined;
    last?.close();
  };
  const storeProblem = (): string | undefined => watchdog().statuses()[0]?.storeProblem;
  /**
   * Reads from the state file if it exists. While the disk is failing, only the data in memory is used, and the status shows the
   * reason.
   */
  const fromFile = <T>(read: (file: LedgerFile) => T, absent: T): T => {
    if (stateDir === undefined || !existsSync(join(stateDir, STATE_FILE))) return absent;
    try {
      file ??= open(stateDir);
      return read(file);
    } catch (error) {
      // Open a new connection for the next read, because SQLite connections may stay broken after a disk error.
      close();
      if (storeProblem() === undefined) throw error;
      return absent;
    }
  };
  /** Returns a validator's counts from memory and the state file; undefined before the validator's first reading. */
  const viewOf = (validator: string): LedgerView | undefined => {
    const memory = watchdog().ledger(validator);
    if (memory === undefined) return undefined;
    const stored = <T>(read: (view: LedgerView) => readonly T[]): readonly T[] =>
      fromFile((ledgers) => {
        const view = ledgers.view(validator);
        return view === undefined ? [] : read(view);
      }, []);
    return joinedView(memory, {
      ...memory,
      days: (...range) => stored((view) => view.days(...range)),
      hours: (...range) => stored((view) => view.hours(...range)),
      minutes: (...range) => stored((view) => view.minutes(...range)),
      misses: (...range) => stored((view) => view.misses(...range)),
      events: (...range) => stored((view) => view.events(...range)),
    });
  };
  const validators = (): readonly ValidatorData[] => {
    const history = watchdog().alertHistory();
    return watchdog()
      .statuses()
      .flatMap(({ validator, assessment, alerts: present, upgrade, compared, payments, standing }) => {
        const ledger = viewOf(validator);
        if (ledger === undefined || assessment === undefined) return [];
        const states = new Map(present.map(({ rule, state }) => [rule.condition.name, state]));
        const alerts = history
          .filter((alert) => alert.validator === validator)
          .map((alert) => toEpisode(alert, states.get(alert.alert)));
        const pending = present.flatMap(({ rule: { condition, severity }, state }) => {
          if (state?.phase !== "pending") return [];
          const { sinceMs, reason } = state;
          const { name: alert, title, inhibits } = condition;
          return [{ alert, title, severity, sinceMs, reason, inhibits }];
        });
        const chain = {
          compared: compared ?? { comparisons: [], notCompared: [] },
          ...(upgrade === undefined ? {} : { upgrade }),
          ...(payments === undefined ? {} : { payments }),
        };
        const { policy } = assessment;
        const data = { ledger, policy, assessment, alerts, pending, chain };
        return [standing === undefined ? data : { ...data, standing }];
      });
  };
  /** Returns the earliest time among the validators' last polls; undefined until every validator has been polled. */
  const polledAtMs = (): number | undefined => {
    const times = watchdog()
      .statuses()
      .map((status) => status.polledAtMs ?? Number.NaN);
    const oldest = Math.min(...times);
    return Number.isFinite(oldest) ? oldest : undefined;
  };
  const source: OracleReportSource = { nowMs, polledAtMs, storeProblem, validators };
  return { ...source, ledger: viewOf, close };
}

const INHIBITS = new Map(CONDITIONS.map(({ name, inhibits }) => [name, inhibits]));

/** Combines a fired alert's record with the alert's current state. */
function toEpisode(past: PastAlert, state: AlertState | undefined): AlertEpisode {
  const { validator: _, quietReason, resolvedAtMs, acknowledged: before, ...rest } = past;
  const now = resolvedAtMs === undefined ? state : undefined;
  const acknowledged = now === undefined ? before : now.acknowledged;
  return {
    ...rest,
    resolvedAtMs,
    ...(acknowledged === undefined ? {} : { acknowledged: acknowledgedBy(acknowledged) }),
    ...(quietReason === undefined ? {} : { quietWhenFired: quietReason }),
    ...(now === undefined ? {} : { reasonNow: now.reason }),
    ...(now?.quietReason === undefined ? {} : { quietNow: now.quietReason }),
    inhibits: INHIBITS.get(past.alert) ?? [],
  };
}

function acknowledgedBy({ author, note, atMs }: Acknowledgement): NonNullable<AlertEpisode["acknowledged"]> {
  return { text: `${author}: ${note}`, atMs };
}
