import { z } from "zod";
import { didYouMean } from "../../platform/base/did-you-mean.ts";
import { DAY_MS, isoTime } from "../../platform/base/time.ts";
import { time } from "../../platform/http/route-about.ts";
import { jsonView, words } from "../policy/json-view.ts";
import { oneLine, refusal, selectionFields, selects } from "./acknowledge.ts";
import type { AlertSelection, Refusal } from "./acknowledge.ts";

/** Maximum number of silences at a time. */
export const MAX_SILENCES = 200;

/** Maximum length of a silence: nobody remembers an older one. */
const MAX_SILENCE_MS = 31 * DAY_MS;

/** Suppresses notifications for a limited time. The alerts are still evaluated and shown, and blocks are still counted. */
export interface Silence extends AlertSelection {
  readonly id: string;
  readonly author: string;
  readonly reason: string;
  readonly startsAtMs: number;
  /** Exclusive. */
  readonly endsAtMs: number;
}

export const storedSilence = z.strictObject({
  id: z.string(),
  alerts: z.array(z.string()),
  validators: z.array(z.string()),
  author: z.string(),
  reason: z.string(),
  startsAtMs: z.number(),
  endsAtMs: z.number(),
}) satisfies z.ZodType<Silence>;

/** The body of `POST /api/silences`. */
export const silenceRequest = z.strictObject({
  ...selectionFields,
  author: oneLine(100),
  reason: oneLine(500),
  starts_at: z.iso.datetime().optional(),
  ends_at: z.iso.datetime(),
});

/** Creates a silence from a JSON request, or explains why the request is refused. `known` lists all names. */
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
  if (endsAtMs <= fromMs) return { refused: "ends_at is not after starts_at and after now" };
  if (endsAtMs - fromMs > MAX_SILENCE_MS)
    return { refused: "ends_at is more than 31 days away; choose an earlier time" };
  return { id, alerts, validators, author, reason, startsAtMs, endsAtMs };
}

function unknownNames(what: string, names: readonly string[], known: readonly string[]): string | undefined {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return undefined;
  const few = known.length > 5 ? "" : `; known: ${known.join(", ")}`;
  return `there is no ${what} ${JSON.stringify(unknown.slice(0, 80))}${didYouMean(unknown, known) || few}`;
}

/** Returns true if a silence applies to an alert at a given time. */
export function silences(silence: Silence, alert: Parameters<typeof selects>[1], nowMs: number): boolean {
  return nowMs >= silence.startsAtMs && nowMs < silence.endsAtMs && selects(silence, alert);
}

/** Returns the silences that have not expired. */
export function withoutExpired(all: readonly Silence[], nowMs: number): readonly Silence[] {
  return all.filter(({ endsAtMs }) => endsAtMs > nowMs);
}

export const silenceView = jsonView<Silence>(({ value, values }) => ({
  id: value(words, ({ id }) => id),
  alerts: values(words, ({ alerts }) => alerts),
  validators: values(words, ({ validators }) => validators),
  author: value(words, ({ author }) => author),
  reason: value(words, ({ reason }) => reason),
  starts_at: value(time, ({ startsAtMs }) => isoTime(startsAtMs)),
  ends_at: value(time, ({ endsAtMs }) => isoTime(endsAtMs)),
}));
