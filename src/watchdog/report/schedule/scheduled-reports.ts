import { DAY_MS, HOUR_MS } from "../../../platform/base/time.ts";
import { monthOf, monthsBefore, monthStartMs } from "../../ledger/month.ts";
import type { Report } from "../../../platform/report/document.ts";
import { isoTime } from "../../../platform/base/time.ts";
import { handoverReport } from "../handover.ts";
import { monthCloseReport, monthReport } from "../month-report.ts";
import type { ValidatorData } from "../validator-data.ts";

/** Kinds of schedules. */
export type ScheduleKind = "daily" | "monthly";

/** A report that is due, with the name of its files. */
export interface DueReport {
  /** "handover-2026-11-02", "month-close-2026-10": the same for the same day or month. */
  readonly id: string;
  readonly report: Report;
}

/** Longest wait for the seal of a month. After it, the reports say that the month is open. */
const SEAL_WAIT_MS = 6 * HOUR_MS;

/** Returns the reports of a schedule that was due at a time; none while the last month is not sealed yet. */
export function dueReports(
  kind: ScheduleKind,
  dueAtMs: number,
  validators: readonly ValidatorData[],
  nowMs: number,
): readonly DueReport[] {
  if (validators.length === 0) return [];
  if (kind === "daily") {
    const report = handoverReport(validators, { fromMs: dueAtMs - DAY_MS, toMs: dueAtMs });
    return [{ id: `handover-${isoTime(dueAtMs).slice(0, 10)}`, report }];
  }
  const [month = ""] = monthsBefore(monthOf(dueAtMs), 1);
  const records = validators.flatMap(({ ledger }) => ledger.months().filter((one) => one.month === month));
  if (records.length === 0) return [];
  const isOpen = records.some(({ seal }) => seal === undefined);
  if (isOpen && nowMs - monthStartMs(monthOf(dueAtMs)) < SEAL_WAIT_MS) return [];
  return [
    { id: `oracle-${month}`, report: monthReport(validators, month) },
    { id: `month-close-${month}`, report: monthCloseReport(validators, month) },
  ];
}
