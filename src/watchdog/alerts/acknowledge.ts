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

const selection = {
  alerts: z.array(z.string()).max(100).default([]),
  validators: z.array(z.string()).max(1000).default([]),
};
/** The body of `POST /api/alerts/ack`. */
export const acknowledgeRequest = z.strictObject({ ...selection, author: oneLine(100), note: oneLine(500) });
/** The body of `POST /api/alerts/unack`. */
export const withdrawRequest = z.strictObject(selection);

/** Selects firing alerts by name and by validator. An empty list selects all. */
interface AlertSelection {
  readonly alerts: readonly string[];
  readonly validators: readonly string[];
}

/** The updated alerts and those that changed, or a plain-language reason for refusing the request. */
export type AcknowledgeResult =
  | { readonly alerts: readonly AlertState[]; readonly changed: readonly AlertState[] }
  | { readonly refused: string };

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
  return changeSelected(alerts, parsed.data, (alert) => {
    const { acknowledged: _, ...rest } = alert;
    return rest;
  });
}

function refusal({ issues }: z.ZodError, expected: string): AcknowledgeResult {
  const texts = issues.map(({ path, message }) => `${path.join(".") || "the body"}: ${message}`);
  return { refused: `${texts.join("; ")}; send ${expected}` };
}

function changeSelected(
  alerts: readonly AlertState[],
  { alerts: names, validators }: AlertSelection,
  change: (alert: AlertState) => AlertState,
): AcknowledgeResult {
  const firing = alerts.filter(({ phase }) => phase === "firing");
  const unknown = names.find((name) => !firing.some(({ alert }) => alert === name));
  const known = [...new Set(firing.map(({ alert }) => alert))].join(", ");
  if (unknown !== undefined || firing.length === 0)
    return {
      refused: `${unknown === undefined ? "no alert" : `no alert ${JSON.stringify(unknown.slice(0, 80))}`} is firing${known === "" ? "" : `; firing: ${known}`}`,
    };
  const isSelected = ({ phase, alert, validator }: AlertState): boolean =>
    phase === "firing" &&
    (names.length === 0 || names.includes(alert)) &&
    (validators.length === 0 || validators.includes(validator));
  const next = alerts.map((alert) => (isSelected(alert) ? change(alert) : alert));
  const changed = next.filter(isSelected);
  if (changed.length === 0) return { refused: `no such alert is firing for ${validators.join(", ")}` };
  return { alerts: next, changed };
}
