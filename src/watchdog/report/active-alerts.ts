import { z } from "zod";
import type { JsonObject } from "../../platform/base/json.ts";
import { formatMinute } from "../../platform/base/text.ts";
import { isoTime } from "../../platform/base/time.ts";
import { list, paragraph, table } from "../../platform/report/blocks.ts";
import type { ReportBlock } from "../../platform/report/document.ts";
import { consequencesText, underCauses } from "../alerts/under-causes.ts";

/** A pending or firing alert, as in the watchdog's `GET /api/alerts`. */
export interface ActiveAlert {
  /** Name of the condition, such as "sidecar-down". */
  readonly alert: string;
  readonly validator: string;
  readonly severity: string;
  readonly title: string;
  readonly state: "pending" | "firing";
  readonly sinceMs: number;
  readonly reason: string;
  /** The reason why the alert sends no notifications; null if the alert does send notifications. */
  readonly quiet: string | null;
  readonly description: string;
  readonly impact: string;
  readonly action: string;
  readonly runbook: string;
  readonly inhibits: readonly string[];
}

/** Renders alerts as a table, followed by a list of the muted alerts grouped by cause. */
export function alertBlocks(alerts: readonly ActiveAlert[]): readonly ReportBlock[] {
  if (alerts.length === 0) return paragraph("No alert is pending or firing.");
  const groups = underCauses(alerts, ({ validator, alert: name, quiet }) => ({ validator, name, quiet }));
  const items = groups.flatMap(({ alert: { title, validator }, consequences }) =>
    consequences.length === 0 ? [] : [`${validator}, ${title}; ${consequencesText(consequences)}.`],
  );
  const rows = groups.map(({ alert }) => [
    alert.title,
    alert.validator,
    alert.severity,
    alert.quiet === null ? alert.state : `${alert.state}, ${alert.quiet}`,
    formatMinute(alert.sinceMs),
    alert.reason,
  ]);
  return [
    ...table(["Alert", "Validator", "Severity", "State", "Since (UTC)", "Reason"], rows),
    ...list(items),
  ];
}

export function activeAlertJson({ alert, sinceMs, ...rest }: ActiveAlert): JsonObject {
  return { name: alert, since: isoTime(sinceMs), ...rest };
}

const wireAlert = z.object({
  name: z.string(),
  validator: z.string(),
  severity: z.string(),
  title: z.string(),
  state: z.string(),
  since: z.string().nullable(),
  reason: z.string().nullable(),
  quiet: z.string().nullable(),
  description: z.string(),
  impact: z.string(),
  action: z.string(),
  runbook: z.string(),
  inhibits: z.array(z.string()),
});

/**
 * Decodes the pending and firing alerts from the body of `GET /api/alerts`, firing alerts first. Throws a `ZodError` if the body is
 * invalid.
 */
export function parseActiveAlerts(body: unknown): readonly ActiveAlert[] {
  const { alerts } = z.object({ alerts: z.array(wireAlert) }).parse(body);
  return alerts
    .flatMap(({ name, state, since, reason, ...rest }): readonly ActiveAlert[] => {
      if (state !== "pending" && state !== "firing") return [];
      return [{ ...rest, alert: name, state, sinceMs: Date.parse(since ?? ""), reason: reason ?? "" }];
    })
    .toSorted((a, b) => Number(b.state === "firing") - Number(a.state === "firing") || a.sinceMs - b.sinceMs);
}
