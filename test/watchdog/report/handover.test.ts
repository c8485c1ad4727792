import { describe, expect, it } from "vitest";
import { handoverReport } from "../../../src/watchdog/report/handover.ts";
import { renderReport } from "../../../src/platform/report/render/render-report.ts";
import { type AlertEpisode, pendingAlert } from "../../../src/watchdog/report/validator-data.ts";
import { sampleValidators } from "../../support/report/sample-months.ts";

const NOON = Date.UTC(2026, 9, 12, 12);
const HOUR = 3_600_000;

function episode(title: string, more: Partial<AlertEpisode> = {}): AlertEpisode {
  return {
    alert: title.toLowerCase(),
    title,
    severity: "critical",
    sinceMs: NOON - 2 * HOUR,
    firedAtMs: NOON - HOUR,
    resolvedAtMs: undefined,
    reason: "because",
    inhibits: [],
    ...more,
  };
}

function handover(...alerts: readonly AlertEpisode[]) {
  const [data = expect.unreachable("no validator")] = sampleValidators(1, 1, NOON);
  return handoverReport([{ ...data, alerts }], { fromMs: NOON - 12 * HOUR, toMs: NOON });
}

describe("a handover", () => {
  it("has what notifies before what does not, and why that one does not", () => {
    const report = handover(
      episode("Muted", { quietNow: "muted by sidecar-down" }),
      episode("Loud"),
      episode("Silenced", {
        quietNow: "silenced by kim: new disk",
        quietWhenFired: "silenced by kim: new disk",
      }),
    );
    const since = "(critical), active since 2026-10-12 10:00 UTC: because.";
    expect(report.blocks[1]).toEqual({
      kind: "list",
      items: [
        `validator-01: Loud ${since}`,
        `validator-01: Muted ${since} Nobody is notified: muted by sidecar-down.`,
        `validator-01: Silenced ${since} Nobody is notified: silenced by kim: new disk.`,
      ],
    });
    expect(report.data).toMatchObject({
      validators: [
        {
          firing: ["loud", "muted", "silenced"],
          quiet: [
            { alert: "muted", reason: "muted by sidecar-down" },
            { alert: "silenced", reason: "silenced by kim: new disk" },
          ],
        },
      ],
    });
    expect(report.outcome).toBe("problem");
  });

  it("says that no alert fires only while none is pending", () => {
    const [data = expect.unreachable("no validator")] = sampleValidators(1, 1, NOON);
    const shift = { fromMs: NOON - HOUR, toMs: NOON };
    const { title, reason, sinceMs, alert, severity, inhibits } = episode("Slow");
    const pending = [{ title, reason, sinceMs, alert, severity, inhibits }];
    const blocks = (given: typeof pending) =>
      handoverReport([{ ...data, alerts: [], pending: given }], shift).blocks;
    expect(blocks([])[1]).toEqual({ kind: "text", text: "No alert fires." });
    expect(blocks(pending).slice(1, 3)).toEqual([
      { kind: "text", text: "No alert fires yet." },
      {
        kind: "list",
        items: ["validator-01: Slow (critical) has been pending since 2026-10-12 10:00 UTC: because."],
      },
    ]);
  });

  it("names no tier for a month that is too young to tell", () => {
    const [data = expect.unreachable("no validator")] = sampleValidators(1, 1, NOON);
    const assessment = { ...data.assessment, counts: { good: 5n, bad: 1n, unknown: 0n } };
    const tierOf = (given: typeof data): unknown =>
      handoverReport([given], { fromMs: NOON - HOUR, toMs: NOON }).blocks.flatMap((block) =>
        block.kind === "table" && block.rows[0]?.[0] === "validator-01" ? [block.rows[0][2]] : [],
      )[0];
    expect(tierOf(data)).toBe(data.assessment.tier);
    expect(tierOf({ ...data, assessment })).toBe("too early");
  });

  it("reads pending alerts of a watchdog that does not say what they cause", () => {
    const { title, reason, sinceMs, alert, severity } = episode("Slow");
    expect(pendingAlert.parse({ title, reason, sinceMs, alert, severity }).inhibits).toEqual([]);
  });

  it("says who works on an alert, and when that began", () => {
    const acknowledged = { text: "kim: new disk", atMs: NOON - HOUR / 2 };
    const report = handover(episode("Loud", { acknowledged }));
    expect(report.blocks[1]).toMatchObject({
      items: [expect.stringMatching(/UTC: because\. Acknowledged by kim: new disk\.$/)],
    });
    expect(renderReport(report, "text")).toMatch(/11:30:00 .* acknowledged +Loud, by kim: new disk\n/);
  });

  it("says what is wrong now, and in the timeline what was wrong then", () => {
    const report = handover(episode("Loud", { reason: "26.5 h are left", reasonNow: "11.0 h are left" }));
    expect(report.blocks[1]).toMatchObject({ items: [expect.stringMatching(/UTC: 11\.0 h are left\.$/)] });
    expect(renderReport(report, "text")).toMatch(/11:00:00 .* alert +Loud: 26\.5 h are left\n/);
  });

  it("says in the timeline of whom nobody heard when it fired, also after its end", () => {
    const report = handover(
      episode("Loud"),
      episode("Quiet", { quietWhenFired: "maintenance: new disk", resolvedAtMs: NOON - 1 }),
    );
    const text = renderReport(report, "text");
    expect(text).toMatch(/11:00:00 .* alert +Loud: because\n/);
    expect(text).toMatch(/11:00:00 .* alert +Quiet: because \(not notified then: maintenance: new disk\)\n/);
    expect(text).not.toContain("Nobody is notified");
  });
});
