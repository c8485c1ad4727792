import { isEarly } from "../policy/early-month.ts";
import { ENOUGH_BLOCKS } from "../policy/reward-tier.ts";
import type { Report, ReportBlock, ReportVerdict } from "../../platform/report/document.ts";
import { formatCents, formatCount, formatMinute, formatTime, isoTime } from "../../platform/report/format.ts";
import { formatRate } from "./block-format.ts";
import { assessmentJson } from "./assessment-json.ts";
import { HEADROOM_COLUMNS, headroomText } from "./handover.ts";
import type { ActiveAlert } from "./active-alert.ts";
import { activeAlertJson } from "./active-alert.ts";
import type { ValidatorData } from "./validator-data.ts";

/** The present state of a watchdog. */
export interface OracleNow {
  /** Undefined before the first poll. */
  readonly polledAtMs: number | undefined;
  readonly nowMs: number;
  /** Since when the watchdog's state is not stored, and why; undefined while it is. */
  readonly storeProblem: string | undefined;
  readonly validators: readonly ValidatorData[];
  /** Pending and firing alerts. */
  readonly alerts: readonly ActiveAlert[];
}

/** Age of the last poll above which the state says nothing about the present. */
const STALE_MS = 120_000;

/** `status`: rate, tier, headroom and what fires, in a few lines. */
export function statusReport(now: OracleNow): Report {
  const rows = now.validators.map(({ ledger, assessment }) => [
    ledger.validator,
    formatRate(assessment.rate),
    assessment.tier ?? "–",
    assessment.rewardCents === undefined ? "–" : formatCents(assessment.rewardCents),
    ...(assessment.headroom.length === 0 ? ["–", "–"] : assessment.headroom.map(headroomText)),
  ]);
  const columns = [
    { title: "Validator" },
    { title: "Month", align: "right" },
    { title: "Tier" },
    { title: "Pay", align: "right" },
    ...HEADROOM_COLUMNS,
  ] as const;
  return {
    title: `Oracle status, ${now.validators[0]?.assessment.month ?? "no month"}`,
    verdict: statusVerdict(now),
    blocks: [
      pollBlock(now),
      ...storeBlocks(now),
      { kind: "table", columns, rows },
      ...earlyBlocks(now.validators),
      alertBlock(now.alerts),
    ],
    data: {
      report: "status",
      polled_at: now.polledAtMs === undefined ? null : isoTime(now.polledAtMs),
      store_error: now.storeProblem ?? null,
      validators: now.validators.map(({ ledger, assessment }) => ({
        validator: ledger.validator,
        chain_id: ledger.chainId ?? null,
        ...assessmentJson(assessment),
      })),
      alerts: now.alerts.map(activeAlertJson),
    },
    csv: {
      columns: [
        "validator",
        "month_rate",
        "tier",
        "pay",
        "outage_to_full_pay_lost",
        "outage_to_all_pay_lost",
      ],
      rows,
    },
  };
}

/** "unseen" wins over "fine", and "problem" over both: what is wrong is known, whatever else is not. */
export function statusVerdict(now: OracleNow): ReportVerdict {
  const { polledAtMs, nowMs, storeProblem, validators, alerts } = now;
  if (storeProblem !== undefined || alerts.some(({ state }) => state === "firing")) return "problem";
  const isStale = polledAtMs === undefined || nowMs - polledAtMs > STALE_MS;
  return isStale ? "unseen" : monthVerdictOf(validators, "fine");
}

/** The verdict of the open month: a problem when a validator is not paid in full, `otherwise` if it is. */
export function monthVerdictOf(
  validators: readonly ValidatorData[],
  otherwise: ReportVerdict = "fine",
): ReportVerdict {
  const rates = validators.filter(({ assessment }) => assessment.rate !== undefined);
  if (rates.length === 0) return "unseen";
  return rates.some(({ assessment }) => assessment.tier !== "full") ? "problem" : otherwise;
}

function pollBlock({ polledAtMs, nowMs }: OracleNow): ReportBlock {
  if (polledAtMs === undefined) return { kind: "text", text: "The watchdog has not polled yet." };
  const stale = nowMs - polledAtMs > STALE_MS ? ", which is too old to say anything about now" : "";
  return { kind: "text", text: `Last poll: ${formatTime(polledAtMs)} UTC${stale}.` };
}

/** Names the validators of whose month so few blocks are counted that its rate says little. */
export function earlyBlocks(validators: readonly ValidatorData[]): readonly ReportBlock[] {
  return validators.flatMap(({ ledger, assessment }) => {
    const { rate } = assessment;
    if (rate === undefined || !isEarly(assessment)) return [];
    const text = `${ledger.validator}: the month has ${formatCount(rate.total)} counted blocks. Its rate says little before ${formatCount(ENOUGH_BLOCKS)}.`;
    return [{ kind: "text", text }];
  });
}

/** What to do while the state is not stored. */
export function storeBlocks({ storeProblem }: OracleNow): readonly ReportBlock[] {
  if (storeProblem === undefined) return [];
  const text = `Watchdog: ${storeProblem}. It is in memory only: repair the disk before anybody restarts the watchdog.`;
  return [{ kind: "text", text }];
}

function alertBlock(alerts: readonly ActiveAlert[]): ReportBlock {
  if (alerts.length === 0) return { kind: "text", text: "No alert is pending or fires." };
  return {
    kind: "table",
    columns: [
      { title: "Alert" },
      { title: "Validator" },
      { title: "Severity" },
      { title: "State" },
      { title: "Since (UTC)" },
      { title: "Reason" },
    ],
    rows: alerts.map((alert) => [
      alert.title,
      alert.validator,
      alert.severity,
      alert.quiet === null ? alert.state : `${alert.state}, ${alert.quiet}`,
      formatMinute(alert.sinceMs),
      alert.reason,
    ]),
  };
}
