import { existsSync } from "node:fs";
import { join } from "node:path";
import type { OracleReportSource } from "../../src/report/oracle/data-routes.ts";
import type { AlertEpisode, ValidatorData } from "../../src/report/oracle/validator-data.ts";
import type { PastAlert } from "../../src/watchdog/alerts/alert-history.ts";
import { CONDITIONS } from "../../src/watchdog/conditions/conditions.ts";
import type { LedgerView } from "../../src/watchdog/ledger/ledger-view.ts";
import { type LedgerFile, openLedgerFile } from "../../src/watchdog/state/ledger-file.ts";
import { STATE_FILE } from "../../src/watchdog/state/sqlite-state.ts";
import type { Watchdog } from "../../src/watchdog/watchdog.ts";

/** A watchdog as reports read it. */
export interface WatchdogReports extends OracleReportSource {
  /** Counts of a validator; undefined before its first reading. */
  readonly ledger: (validator: string) => LedgerView | undefined;
  readonly close: () => void;
}

/**
 * Creates the source of a running watchdog. With `stateDir`, counts are read from the state file, which has all hours of the
 * last 400 days; otherwise from memory.
 */
export function createWatchdogReports(
  watchdog: () => Watchdog,
  stateDir: string | undefined,
  nowMs: () => number,
): WatchdogReports {
  let file: LedgerFile | undefined;
  const close = (): void => {
    file?.close();
    file = undefined;
  };
  const viewOf = (validator: string): LedgerView | undefined => {
    if (stateDir !== undefined && existsSync(join(stateDir, STATE_FILE))) file ??= openLedgerFile(stateDir);
    try {
      return file?.view(validator) ?? watchdog().ledger(validator);
    } catch (error) {
      // After an error of its disk a connection may never work again.
      close();
      throw error;
    }
  };
  const validators = (): readonly ValidatorData[] => {
    const history = watchdog().alertHistory();
    return watchdog()
      .statuses()
      .flatMap(({ validator, assessment }) => {
        const ledger = viewOf(validator);
        if (ledger === undefined || assessment === undefined) return [];
        const alerts = history.filter((alert) => alert.validator === validator).map(toEpisode);
        return [{ ledger, policy: assessment.policy, assessment, alerts }];
      });
  };
  return {
    nowMs,
    polledAtMs: () => oldestPoll(watchdog()),
    validators,
    ledger: viewOf,
    close,
  };
}

/** The poll of the validator that was not polled for longest; undefined while one was never polled. */
function oldestPoll(watchdog: Watchdog): number | undefined {
  const times = watchdog.statuses().map(({ polledAtMs }) => polledAtMs ?? Number.NaN);
  const oldest = Math.min(...times);
  return Number.isFinite(oldest) ? oldest : undefined;
}

const INHIBITS = new Map(CONDITIONS.map(({ name, inhibits }) => [name, inhibits]));

function toEpisode(past: PastAlert): AlertEpisode {
  const { alert, title, severity, sinceMs, firedAtMs, resolvedAtMs, reason } = past;
  const inhibits = INHIBITS.get(alert) ?? [];
  return { alert, title, severity, sinceMs, firedAtMs, resolvedAtMs, reason, inhibits };
}
