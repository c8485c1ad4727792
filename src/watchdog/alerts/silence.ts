import { z } from "zod";
import { didYouMean } from "../../platform/base/did-you-mean.ts";
import { DAY_MS } from "../../platform/base/time.ts";
import { jsonView, words } from "../../platform/http/json-view.ts";
import type { AlertState } from "./alert-state.ts";

/** Schema of a note or name: one line of text, trimmed, with at most `limit` characters. */
const oneLine = (limit: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(limit)
    .regex(/^[^\p{Cc}]*$/u, { error: "is not one line" });

const selectionFields = {
  alerts: z.array(z.string()).max(100).default([]),
  validators: z.array(z.string()).max(1000).default([]),
};
/** Schema of the JSON body of `POST /api/alerts/ack`, which acknowledges the selected alerts. */
export const acknowledgeRequest = z.strictObject({
  ...selectionFields,
  author: oneLine(100),
  note: oneLine(500),
});
/** Schema of the JSON body of `POST /api/alerts/unack`, which withdraws acknowledgements of the selected alerts. */
export const withdrawRequest = z.strictObject(selectionFields);

/** Selects alerts by condition name and by validator name, where an empty list matches every name. */
export interface AlertSelection {
  readonly alerts: readonly string[];
  readonly validators: readonly string[];
}

export function selects(
  { alerts, validators }: AlertSelection,
  { alert, validator }: Pick<AlertState, "alert" | "validator">,
): boolean {
  return (
    (alerts.length === 0 || alerts.includes(alert)) &&
    (validators.length === 0 || validators.includes(validator))
  );
}

/** The refusal of a request, with a plain-language reason. */
export interface Refusal {
  readonly refused: string;
}

/** The updated list of alerts and the alerts that changed, or the reason for refusing the request. */
export type AcknowledgeResult =
  | { readonly alerts: readonly AlertState[]; readonly changed: readonly AlertState[] }
  | Refusal;

/** Acknowledges the firing alerts that a JSON request selects. If an alert is already acknowledged, its note is replaced. */
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

/** Withdraws the acknowledgements of the firing alerts that a JSON request selects, so that reminders and escalations resume. */
export function withdrawAcknowledgements(alerts: readonly AlertState[], body: unknown): AcknowledgeResult {
  const parsed = withdrawRequest.safeParse(body);
  if (!parsed.success) return refusal(parsed.error, '{"alerts": […]}');
  const acknowledged = alerts.filter((alert) => alert.acknowledged !== undefined);
  if (acknowledged.length === 0) return { refused: "no alert is acknowledged" };
  return changeSelected(alerts, parsed.data, (alert) => ({ ...alert, acknowledged: undefined }));
}

/** Lists what is wrong with a request body. `expected` is an example of a correct body. */
function refusal({ issues }: z.ZodError, expected: string): Refusal {
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

export const MAX_SILENCES = 200;

/** Maximum duration of a silence. People would forget about a longer silence. */
const MAX_SILENCE_MS = 31 * DAY_MS;

/**
 * A silence, which suppresses notifications for a limited time. Silenced alerts are still evaluated and shown, and their missed
 * blocks are still counted.
 */
export const storedSilence = z.strictObject({
  id: z.string(),
  alerts: z.array(z.string()).readonly(),
  validators: z.array(z.string()).readonly(),
  author: z.string(),
  reason: z.string(),
  startsAtMs: z.number(),
  endsAtMs: z.number(),
});

export type Silence = Readonly<z.output<typeof storedSilence>>;

/** Schema of the JSON body of `POST /api/silences`, which creates a silence. */
export const silenceRequest = z.strictObject({
  ...selectionFields,
  author: oneLine(100),
  reason: oneLine(500),
  starts_at: z.iso.datetime().optional(),
  ends_at: z.iso.datetime(),
});

/**
 * Creates a silence from a JSON request, or explains why the request is refused. `known` lists the existing alerts and validators.
 */
export function parseSilence(
  body: unknown,
  known: AlertSelection,
  { id, nowMs }: { readonly id: string; readonly nowMs: number },
): Silence | Refusal {
  const parsed = silenceRequest.safeParse(body);
  if (!parsed.success)
    return refusal(parsed.error, '{"alerts": […], "author": …, "reason": …, "ends_at": …}');
  const { alerts, validators, author, reason, starts_at, ends_at } = parsed.data;
  const startsAtMs = starts_at === undefined ? nowMs : Date.parse(starts_at);
  const endsAtMs = Date.parse(ends_at);
  const unknown =
    unknownNames("alert", alerts, known.alerts) ?? unknownNames("validator", validators, known.validators);
  if (unknown !== undefined) return { refused: unknown };
  const fromMs = Math.max(nowMs, startsAtMs);
  if (endsAtMs <= fromMs) return { refused: "ends_at must be after starts_at and in the future" };
  if (endsAtMs - fromMs > MAX_SILENCE_MS) return { refused: "ends_at must be at most 31 days away" };
  return { id, alerts, validators, author, reason, startsAtMs, endsAtMs };
}

function unknownNames(what: string, names: readonly string[], known: readonly string[]): string | undefined {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return undefined;
  const few = known.length > 5 ? "" : `; known: ${known.join(", ")}`;
  return `unknown ${what} ${JSON.stringify(unknown.slice(0, 80))}${didYouMean(unknown, known) || few}`;
}

/** Returns true if a silence suppresses notifications at a given time. */
export function isActive({ startsAtMs, endsAtMs }: Silence, nowMs: number): boolean {
  return startsAtMs <= nowMs && nowMs < endsAtMs;
}

/** Returns true if a silence applies to an alert at a given time. */
export function silences(silence: Silence, alert: Parameters<typeof selects>[1], nowMs: number): boolean {
  return isActive(silence, nowMs) && selects(silence, alert);
}

export function withoutExpired(all: readonly Silence[], nowMs: number): readonly Silence[] {
  return all.filter(({ endsAtMs }) => endsAtMs > nowMs);
}

export const silenceView = jsonView<Silence>(({ value, time, values }) => ({
  id: value(words, ({ id }) => id),
  alerts: values(words, ({ alerts }) => alerts),
  validators: values(words, ({ validators }) => validators),
  author: value(words, ({ author }) => author),
  reason: value(words, ({ reason }) => reason),
  starts_at: time(({ startsAtMs }) => startsAtMs),
  ends_at: time(({ endsAtMs }) => endsAtMs),
}));
