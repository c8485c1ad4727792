import { monthStartMs, nextMonthMs } from "../ledger/month.ts";
import type { Report, ReportBlock } from "../../platform/report/document.ts";
import { formatCount, formatMinute } from "../../platform/report/format.ts";
import { formatRate } from "./block-format.ts";
import { type ActiveAlert, activeAlertJson } from "./active-alert.ts";
import { type CauseCount, causesOf, NO_ALERT } from "./incidents.ts";
import { type OracleNow, statusVerdict, storeBlocks } from "./status-report.ts";
import type { ValidatorData } from "./validator-data.ts";

/** `why`: what is wrong now, what it causes, what to do, and what cost this month its misses. */
export function whyReport(now: OracleNow): Report {
  const firing = now.alerts.filter(({ state }) => state === "firing");
  const roots = rootsOf(now.alerts);
  const explained = new Set(roots.flatMap(({ caused }) => caused));
  const pending = now.alerts.filter((alert) => alert.state === "pending" && !explained.has(alert));
  const months = now.validators.map((data) => ({ data, sums: monthCauses(data) }));
  return {
    title: "Why",
    verdict: statusVerdict(now),
    blocks: [
      ...storeBlocks(now),
      ...(firing.length === 0
        ? [{ kind: "text", text: "Nothing fires." } as const]
        : roots.flatMap(rootBlocks)),
      ...(pending.length === 0 ? [] : [pendingBlock(pending)]),
      { kind: "heading", text: "Misses of this month" },
      { kind: "list", items: months.map(({ data, sums }) => causeText(data, sums)) },
    ],
    data: {
      report: "why",
      alerts: now.alerts.map(activeAlertJson),
      misses: months.map(({ data, sums }) => ({
        validator: data.ledger.validator,
        by_cause: sums.map(({ cause, bad }) => ({ cause, misses: String(bad) })),
      })),
    },
    csv: {
      columns: ["alert", "validator", "severity", "state", "reason"],
      rows: now.alerts.map(({ alert, validator, severity, state, reason }) => [
        alert,
        validator,
        severity,
        state,
        reason,
      ]),
    },
  };
}

/** A firing alert that no other one causes, and the alerts that it causes, also through others. */
interface Root {
  readonly root: ActiveAlert;
  readonly caused: readonly ActiveAlert[];
}

function rootsOf(alerts: readonly ActiveAlert[]): readonly Root[] {
  const firing = alerts.filter(({ state }) => state === "firing");
  return firing
    .filter((alert) => !firing.some((other) => causes(other, alert)))
    .map((root) => ({ root, caused: causedBy(root, alerts) }));
}

function causedBy(root: ActiveAlert, alerts: readonly ActiveAlert[]): readonly ActiveAlert[] {
  const found = new Set([root]);
  // A set visits what is added to it while it is visited.
  for (const cause of found)
    for (const alert of alerts) if (cause.state === "firing" && causes(cause, alert)) found.add(alert);
  return [...found].slice(1);
}

function causes(a: ActiveAlert, b: ActiveAlert): boolean {
  return a.validator === b.validator && a.inhibits.includes(b.alert);
}

function rootBlocks({ root, caused }: Root): readonly ReportBlock[] {
  const items = [
    root.description,
    `Impact: ${root.impact}`,
    `Action: ${root.action}`,
    `Runbook: ${root.runbook.includes("/") ? root.runbook : `alerts/runbooks/${root.runbook}`}`,
    ...(root.quiet === null ? [] : [`Nobody is notified: ${root.quiet}.`]),
    ...(caused.length === 0 ? [] : [`It also explains: ${caused.map(causedText).join(", ")}.`]),
  ];
  return [
    { kind: "heading", text: `${root.validator}: ${root.title} (${root.severity})` },
    { kind: "text", text: `Since ${formatMinute(root.sinceMs)} UTC: ${root.reason}.` },
    { kind: "list", items },
  ];
}

function causedText({ title, state }: ActiveAlert): string {
  return state === "pending" ? `${title} (pending)` : title;
}

function pendingBlock(pending: readonly ActiveAlert[]): ReportBlock {
  const items = pending.map(
    ({ validator, title, sinceMs, reason }) =>
      `${validator}: ${title} is pending since ${formatMinute(sinceMs)} UTC: ${reason}.`,
  );
  return { kind: "list", items };
}

function monthCauses({ ledger, assessment, alerts }: ValidatorData) {
  const fromMs = monthStartMs(assessment.month);
  const toMs = nextMonthMs(fromMs);
  const explanations = { alerts, events: ledger.events(fromMs, toMs) };
  return causesOf(ledger.hours(fromMs, toMs), explanations, ledger.minutes(fromMs, toMs));
}

function causeText({ ledger, assessment }: ValidatorData, sums: readonly CauseCount[]): string {
  const { bad } = assessment.counts;
  const known = sums.reduce((sum, cause) => sum + cause.bad, 0n);
  const parts = [
    ...sums.map(({ cause, bad: missed }) =>
      cause === NO_ALERT ? `${formatCount(missed)} without an alert` : `${formatCount(missed)} ${cause}`,
    ),
    // Estimated blocks are not in the hours.
    ...(known < bad ? [`${formatCount(bad - known)} before the first reading`] : []),
  ];
  return `${ledger.validator}: ${formatRate(assessment.rate)}, ${formatCount(bad)} missed${parts.length === 0 ? "" : ` (${parts.join(", ")})`}.`;
}
