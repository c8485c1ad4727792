import { describe, expect, it } from "vitest";
import {
  activeWindow,
  maintenanceField,
  type MaintenanceWindow,
} from "../../src/watchdog/alerts/maintenance.ts";
import { parseSilence, type Silence, silences, withoutExpired } from "../../src/watchdog/alerts/silence.ts";

// A Wednesday.
const NOON = Date.UTC(2026, 9, 14, 12);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const SILENCE: Silence = {
  id: "s",
  alerts: [],
  validators: [],
  author: "me",
  reason: "test",
  startsAtMs: NOON,
  endsAtMs: NOON + HOUR,
};
const ALERT = { validator: "a", alert: "sidecar-down" };

describe("a silence", () => {
  it("covers from its begin to before its end", () => {
    const at = (ms: number): boolean => silences(SILENCE, ALERT, ms);
    expect([NOON - 1, NOON, NOON + HOUR - 1, NOON + HOUR].map(at)).toEqual([false, true, true, false]);
    expect(withoutExpired([SILENCE], NOON + HOUR - 1)).toEqual([SILENCE]);
    expect(withoutExpired([SILENCE], NOON + HOUR)).toEqual([]);
  });

  it.each([
    [{}, true],
    [{ alerts: ["sidecar-down"] }, true],
    [{ alerts: ["sidecar-slow"] }, false],
    [{ validators: ["a"] }, true],
    [{ validators: ["b"] }, false],
    [{ alerts: ["sidecar-down"], validators: ["b"] }, false],
  ])("with %o covers the alert: %s", (names, covers) => {
    expect(silences({ ...SILENCE, ...names }, ALERT, NOON)).toBe(covers);
  });

  const KNOWN = { alerts: ["sidecar-down"], validators: ["a"] };
  const parse = (body: Readonly<Record<string, unknown>>) =>
    parseSilence({ author: "me", reason: "test", ...body }, KNOWN, { id: "s", nowMs: NOON });
  const time = (ms: number): string => new Date(ms).toISOString();

  it("lasts up to 31 days from its begin", () => {
    expect(parse({ ends_at: time(NOON + 31 * DAY) })).toMatchObject({ startsAtMs: NOON });
    expect(parse({ ends_at: time(NOON + 31 * DAY + 1) })).toHaveProperty("refused");
    const later = { starts_at: time(NOON + 5 * DAY) };
    expect(parse({ ...later, ends_at: time(NOON + 36 * DAY) })).not.toHaveProperty("refused");
    expect(parse({ ...later, ends_at: time(NOON + 36 * DAY + 1) })).toHaveProperty("refused");
  });

  it.each([
    ["is over", { starts_at: time(NOON - DAY), ends_at: time(NOON) }, "in the future"],
    [
      "ends at its begin",
      { starts_at: time(NOON + DAY), ends_at: time(NOON + DAY) },
      "ends_at must be after",
    ],
    [
      "names an unknown alert",
      { alerts: ["x"], ends_at: time(NOON + 1) },
      'unknown alert "x"; known: sidecar-down',
    ],
    [
      "names an unknown validator",
      { validators: ["b"], ends_at: time(NOON + 1) },
      'unknown validator "b"; known: a',
    ],
    ["has an author of two lines", { author: "me\nyou", ends_at: time(NOON + 1) }, "author: is not one line"],
    ["has no reason", { reason: " ", ends_at: time(NOON + 1) }, "reason"],
    ["has an unknown key", { until: "never", ends_at: time(NOON + 1) }, "until"],
  ])("that %s is refused, and the text says why", (_what, body, text) => {
    expect(parse(body)).toEqual({ refused: expect.stringContaining(text) });
  });
});

describe("a maintenance window", () => {
  const windowOf = (file: Readonly<Record<string, unknown>>): MaintenanceWindow =>
    maintenanceField.parse({ reason: "work", ...file });
  const isOpen = (window: MaintenanceWindow, atMs: number, validator = "a"): boolean =>
    activeWindow([window], validator, atMs) === window;

  it("that is once covers from its begin to before its end", () => {
    const window = windowOf({ from: "2026-10-14T12:00:00Z", duration: "1h" });
    expect([NOON - 1, NOON, NOON + HOUR - 1, NOON + HOUR].map((at) => isOpen(window, at))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  it("that is weekly begins on its days by UTC, and lasts over midnight", () => {
    const window = windowOf({ days: ["wednesday"], at: "22:30", duration: "3h" });
    const begin = NOON + 10.5 * HOUR;
    for (const week of [-1, 0, 1]) {
      const from = begin + week * 7 * DAY;
      expect([from - 1, from, from + 3 * HOUR - 1, from + 3 * HOUR].map((at) => isOpen(window, at))).toEqual([
        false,
        true,
        true,
        false,
      ]);
    }
    for (const day of [1, 2, 3, 4, 5, 6])
      expect([day, isOpen(window, begin + day * DAY)]).toEqual([day, false]);
  });

  it("covers the named validators only", () => {
    const window = windowOf({ from: "2026-10-14T12:00:00Z", duration: "1h", validators: ["a"] });
    expect([isOpen(window, NOON), isOpen(window, NOON, "b")]).toEqual([true, false]);
  });

  it("has at most 24 h, and a time that exists", () => {
    expect(windowOf({ days: ["sunday"], at: "00:00", duration: "24h" }).durationMs).toBe(DAY);
    for (const file of [
      { days: ["sunday"], at: "00:00", duration: "25h" },
      { days: ["sunday"], at: "24:00", duration: "1h" },
      { days: [], at: "00:00", duration: "1h" },
      { from: "tomorrow", duration: "1h" },
    ])
      expect(maintenanceField.safeParse({ reason: "work", ...file }).success).toBe(false);
  });
});
