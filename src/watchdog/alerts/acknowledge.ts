import { z } from "zod";
import type { AlertState } from "./alert-state.ts";

/** Field for a single line of text written by a person. */
export const oneLine = (limit: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(limit)
    .regex(/^[^\p{Cc}]*$/u, { error: "is not one line" });

/** Fields of an {@link AlertSelection} in a request. */
export const selectionFields = {
  alerts: z.array(z.string()).max(100).default([]),
  validators: z.array(z.string()).max(1000).default([]),
};
/** The body of `POST /api/alerts/ack`. */
export const acknowledgeRequest = z.strictObject({
  ...selectionFields,
  author: oneLine(100),
  note: oneLine(500),
});
/** The body of `POST /api/alerts/unack`. */
export const withdrawRequest = z.strictObject(selectionFields);

/** Selects alerts by condition name and by validator name. An empty list selects all. */
export interface AlertSelection {
  readonly alerts: readonly string[];
  readonly validators: readonly string[];
}

/** Returns true if a selection contains an alert. */
export function selects(
  { alerts, validators }: AlertSelection,
  { alert, validator }: Pick<AlertState, "alert" | "validator">,
): boolean {
  return (
    (alerts.length === 0 || alerts.includes(alert)) &&
    (validators.length === 0 || validators.includes(validator))
  );
}

/** A plain-language reason for refusing a request. */
export interface Refusal {
  readonly refused: string;
}

/** The updated alerts and those that changed, or why the request is refused. */
export type AcknowledgeResult =
  | { readonly alerts: readonly AlertState[]; readonly changed: readonly AlertState[] }
  | Refusal;

/** Acknowledges the firing alerts selected by a JSON request. An alert that is already acknowledged gets the new note. */
export function acknowledgeAlerts(
  alerts: readonly AlertState[],
  body: unknown,
  nowMs: number,
): AcknowledgeResult {
  const parsed = acknowledgeRequest.safeParse(body);
  if (!parsed.success) return refusal(parsed.error, '{"alerts": […], "author": …, "note": …}');
  const { author, note } = parsed.data;
  return changeSelected(alerts, parsed.data, (alert) => ({
    ...alert,
    acknowledged: { author, note, atMs: nowMs },
  }));
}

/** Withdraws the acknowledgements of the firing alerts selected by a JSON request: reminders and escalation resume. */
export function withdrawAcknowledgements(alerts: readonly AlertState[], body: unknown): AcknowledgeResult {
  const parsed = withdrawRequest.safeParse(body);
  if (!parsed.success) return refusal(parsed.error, '{"alerts": […]}');
  const acknowledged = alerts.filter((alert) => alert.acknowledged !== undefined);
  if (acknowledged.length === 0) return { refused: "no alert is acknowledged" };
  return changeSelected(alerts, parsed.data, (alert) => ({ ...alert, acknowledged: undefined }));
}

/** Refuses a body that does not match its schema. `expected` shows a correct body. */
export function refusal({ issues }: z.ZodError, expected: string): Refusal {
  const texts = issues.map(({ path, message }) => `${path.join(".") || "the body"}: ${message}`);
  return { refused: `${texts.join("; ")}; send ${expected}` };
}

function changeSelected(
  alerts: readonly AlertState[],
  selection: AlertSelection,
  change: (alert: AlertState) => AlertState,
): AcknowledgeResult {
  const firing = new Set(alerts.filter(({ phase }) => phase === "firing").map(({ alert }) => alert));
  const unknown = selection.alerts.find((name) => !firing.has(name));
  if (unknown !== undefined || firing.size === 0) {
    const what = unknown === undefined ? "no alert" : `no alert ${JSON.stringify(unknown.slice(0, 80))}`;
    const known = firing.size === 0 ? "" : `; firing: ${[...firing].join(", ")}`;
    return { refused: `${what} is firing${known}` };
  }
  const isSelected = (alert: AlertState): boolean => alert.phase === "firing" && selects(selection, alert);
  const next = alerts.map((alert) => (isSelected(alert) ? change(alert) : alert));
  const changed = next.filter(isSelected);
  if (changed.length === 0)
    return { refused: `no such alert is firing for ${selection.validators.join(", ")}` };
  return { alerts: next, changed };
}
