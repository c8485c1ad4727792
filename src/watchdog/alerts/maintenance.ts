import { z } from "zod";
import { DAY_MS } from "../../platform/base/time.ts";
import { durationField, issueText } from "../../platform/config/config-fields.ts";
import { jsonView, words } from "../../platform/http/json-view.ts";

const DAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"] as const;

/** A planned maintenance period, in UTC. During maintenance, alerts send no notifications, but blocks are still counted. */
export interface MaintenanceWindow {
  readonly reason: string;
  /** Names of the validators to which the window applies; empty for all validators. */
  readonly validators: readonly string[];
  readonly durationMs: number;
  readonly start: MaintenanceStart;
}

export const maintenanceView = jsonView<MaintenanceWindow>(({ value, values }) => ({
  reason: value(words, ({ reason }) => reason),
  validators: values(words, ({ validators }) => validators),
  duration_seconds: value(z.number(), ({ durationMs }) => durationMs / 1000),
}));

/** The start of a maintenance window: either a single time, or a time of day on certain weekdays (0 is Sunday). */
type MaintenanceStart =
  | { readonly kind: "once"; readonly atMs: number }
  | { readonly kind: "weekly"; readonly days: readonly number[]; readonly timeOfDayMs: number };

const TIME = /^([01]\d|2[0-3]):([0-5]\d)$/;

const common = {
  reason: z.string().min(1).max(200).describe("reason for the maintenance, shown with the alerts"),
  validators: z
    .array(z.string())
    .max(1000)
    .default([])
    .describe("names of the validators under maintenance; empty: all validators"),
  duration: durationField(60_000).describe("length of the maintenance window, at most 24h"),
};

const once = z.strictObject({
  ...common,
  from: z.iso
    .datetime({ error: issueText("is not a time", '"2026-12-01T02:00:00Z"') })
    .describe("start of a one-time maintenance window, in UTC"),
});

const weekly = z.strictObject({
  ...common,
  days: z
    .array(z.enum(DAYS))
    .min(1)
    .max(7)
    .describe("weekdays on which a recurring maintenance window starts"),
  at: z
    .string()
    .regex(TIME, { error: issueText("is not a time of day", '"02:00"') })
    .describe("time of day at which a recurring maintenance window starts, in UTC"),
});

/** Schema of a maintenance window, which is either `{from, duration}` or `{days, at, duration}`. */
export const maintenanceField = z
  .union([once, weekly], {
    error: issueText(
      "is not a maintenance window",
      "{reason, from, duration} or {reason, days, at, duration}",
    ),
  })
  .refine(({ duration }) => duration <= DAY_MS, {
    path: ["duration"],
    error: issueText("is longer than 24h", "at most 24h"),
  })
  .transform(
    (file): MaintenanceWindow => ({
      reason: file.reason,
      validators: file.validators,
      durationMs: file.duration,
      start:
        "from" in file
          ? { kind: "once", atMs: Date.parse(file.from) }
          : {
              kind: "weekly",
              days: file.days.map((day) => DAYS.indexOf(day)),
              timeOfDayMs: timeOfDayMs(file.at),
            },
    }),
  );

function timeOfDayMs(text: string): number {
  const [, hours, minutes] = TIME.exec(text) ?? [];
  return (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/** Returns the first maintenance window that applies to a validator at a given time. */
export function activeWindow(
  windows: readonly MaintenanceWindow[],
  validator: string,
  nowMs: number,
): MaintenanceWindow | undefined {
  return windows.find(
    ({ validators, start, durationMs }) =>
      (validators.length === 0 || validators.includes(validator)) && isOpen(start, durationMs, nowMs),
  );
}

function isOpen(start: MaintenanceStart, durationMs: number, nowMs: number): boolean {
  if (start.kind === "once") return nowMs >= start.atMs && nowMs < start.atMs + durationMs;
  const midnightMs = nowMs - (nowMs % DAY_MS);
  // A window lasts at most 24 h, so an open window started today or yesterday.
  return [midnightMs, midnightMs - DAY_MS].some((dayMs) => {
    const beginMs = dayMs + start.timeOfDayMs;
    return (
      start.days.includes(new Date(dayMs).getUTCDay()) && nowMs >= beginMs && nowMs < beginMs + durationMs
    );
  });
}
