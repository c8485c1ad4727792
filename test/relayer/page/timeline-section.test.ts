import { describe, expect, it } from "vitest";
import type { ProblemSpan, Span } from "../../../src/relayer/health/problem-timeline.ts";
import type { ProblemCode } from "../../../src/relayer/health/problems.ts";
import { timelineSection } from "../../../src/relayer/page/relayer-page.ts";

const HOUR = 3_600_000;
/** 2027-01-15T08:00:00Z */
const NOW = 1_800_000_000_000;
const ago = (fromHours: number, untilHours: number): Span => ({
  fromMs: NOW - fromHours * HOUR,
  untilMs: NOW - untilHours * HOUR,
});
const problem = (
  span: Span,
  code: ProblemCode = "queries-overdue",
  connectionId = "connection-0",
): ProblemSpan => ({
  ...span,
  code,
  connectionId,
  reason: "late <b>",
});
const section = (runs: readonly Span[], problems: readonly ProblemSpan[] = []): string =>
  timelineSection({ runs: () => runs, problems: () => problems }, NOW).text;

/** The path of a style in the row of this name: starts and widths in thousandths of a day. */
function stretches(text: string, row: string, style: string): readonly (readonly [number, number])[] {
  const svg =
    new RegExp(`aria-label="${row.replaceAll(/[()]/g, "\\$&")}: [^"]*">(.*?)</svg>`, "s").exec(text)?.[1] ??
    "";
  const path = new RegExp(`class="${style}" d="([^"]*)"`).exec(svg)?.[1] ?? "";
  return [...path.matchAll(/M([\d.]+) \d+v-[\d.]+h([\d.]+)v/g)].map(([, from, width]) => [
    Number(from),
    Number(width),
  ]);
}

describe("problems over time", () => {
  it("shows a problem in its place, and the rest of a run as healthy", () => {
    const text = section([ago(48, 0)], [problem(ago(12, 6))]);
    expect(text).toContain("a problem for 6 h of 1 d of running");
    expect(stretches(text, "relayer", "b-bad")).toEqual([[500, 250]]);
    expect(stretches(text, "relayer", "b-good")).toEqual([[0, 1000]]);
    expect(stretches(text, "queries-overdue (connection-0)", "b-bad")).toEqual([[500, 250]]);
    expect(stretches(text, "queries-overdue (connection-0)", "b-good")).toEqual([]);
  });

  it("never shows time without a process as healthy", () => {
    const text = section([ago(48, 18), ago(12, 0)]);
    expect(text).toContain("no problem in 18 h of running, not running for 6 h");
    expect(stretches(text, "relayer", "b-hollow")).toEqual([[250, 250]]);
    expect(stretches(text, "relayer", "b-good")).toEqual([
      [0, 250],
      [500, 500],
    ]);
    const stopped = section([ago(48, 6)]);
    expect(stretches(stopped, "relayer", "b-good")).toEqual([[0, 750]]);
    expect(stretches(stopped, "relayer", "b-hollow")).toEqual([[750, 250]]);
    const never = section([]);
    expect(stretches(never, "relayer", "b-good")).toEqual([]);
    expect(never).toContain("no problem in 0 s of running, not running for 1 d");
  });

  it("while starting, nobody knows: neither healthy nor a problem", () => {
    const text = section([ago(48, 0)], [problem(ago(12, 6), "starting", "")]);
    expect(stretches(text, "relayer", "b-bad")).toEqual([]);
    expect(stretches(text, "relayer", "b-hollow")).toEqual([[500, 250]]);
    expect(stretches(text, "relayer", "b-good")).toEqual([
      [0, 500],
      [750, 250],
    ]);
    expect(text).not.toContain("problem-list");
  });

  it("counts overlapping problems once, and has a row for each", () => {
    const text = section([ago(48, 0)], [problem(ago(6, 0)), problem(ago(3, 0), "local-not-followed", "")]);
    expect(text).toContain("a problem for 6 h of 1 d of running");
    expect(stretches(text, "local-not-followed", "b-bad")).toEqual([[875, 125]]);
    // The newest first, in a table with escaped reasons.
    expect(text.replaceAll(/<[^>]*>/g, " ")).toMatch(
      /2 problems of the last 24 hours.*local-not-followed.* now .*queries-overdue/s,
    );
    expect(text).toContain("late &lt;b&gt;");
  });

  it("has a week by the hour, which begins with the first run", () => {
    const text = section([ago(72, 0)], [problem(ago(30, 29))]);
    expect(text).toContain("a problem for 3600 s of 3 d of running".replace("3600 s", "1 h"));
    expect(text).toContain("not running for 3 d 23 h");
    expect(text).toContain(">not running</text>");
  });
});
