import { describe, expect, it } from "vitest";
import type { ActiveAlert } from "../../../src/watchdog/report/active-alerts.ts";
import { type OracleNow, statusReport, whyReport } from "../../../src/watchdog/report/status-report.ts";
import { forecastReport } from "../../../src/watchdog/report/forecast-report.ts";
import type { ValidatorData } from "../../../src/watchdog/report/validator-data.ts";
import { renderReport } from "../../../src/platform/report/render/render-report.ts";
import { assess } from "../../../src/watchdog/policy/assess.ts";
import { SPECIFIED_POLICY } from "../../../src/watchdog/policy/assessment.ts";
import { ledgerViewOf, monthRecord } from "../../support/watchdog/ledger-view.ts";

const NOON = Date.UTC(2026, 9, 12, 12);

function validatorWith(good: bigint, bad: bigint): ValidatorData {
  const ledger = ledgerViewOf({ months: [monthRecord("2026-10", good, bad)] });
  const assessment = assess({ ledger, nowMs: NOON, policy: SPECIFIED_POLICY, blockTimeMs: 1000 });
  return { ledger, policy: SPECIFIED_POLICY, assessment, alerts: [] };
}

function alert(name: string, more: Partial<ActiveAlert> = {}): ActiveAlert {
  return {
    alert: name,
    validator: "validator",
    severity: "critical",
    title: name.toUpperCase(),
    state: "firing",
    sinceMs: NOON,
    reason: "because",
    quiet: null,
    description: "d",
    impact: "i",
    action: "a",
    runbook: `${name}.md`,
    inhibits: [],
    ...more,
  };
}

const nowOf = (alerts: readonly ActiveAlert[], data = validatorWith(1_000_000n, 0n)): OracleNow => ({
  polledAtMs: NOON,
  nowMs: NOON,
  storeProblem: undefined,
  validators: [data],
  alerts,
});

describe("why", () => {
  const why = (...alerts: readonly ActiveAlert[]): string => renderReport(whyReport(nowOf(alerts)), "text");

  it("names the cause, and what it explains through others, and what is pending by it", () => {
    const text = why(
      alert("root", { inhibits: ["middle"] }),
      alert("middle", { inhibits: ["leaf"] }),
      alert("leaf", { state: "pending" }),
      alert("other", { state: "pending", inhibits: ["innocent"] }),
      alert("innocent", { state: "pending" }),
    );
    expect(text).toContain("It also explains: MIDDLE, LEAF (pending).");
    // Only a firing alert is a problem of now.
    expect(text).not.toMatch(/LEAF is pending|validator: (MIDDLE|OTHER|INNOCENT) \(/);
    // What is only pending explains nothing yet.
    expect(text).toContain("OTHER is pending (since");
    expect(text).toContain("INNOCENT is pending (since");
  });

  it("explains nothing by an alert that is only pending, also through it", () => {
    const text = why(
      alert("root", { inhibits: ["middle"] }),
      alert("middle", { state: "pending", inhibits: ["leaf"] }),
      alert("leaf", { state: "pending" }),
    );
    expect(text).toContain("It also explains: MIDDLE (pending).");
    expect(text).toContain("LEAF is pending (since");
  });

  it("says until when an echo is muted", () => {
    const quiet = "muted until 11:36 UTC, because root has just ended";
    const text = why(alert("leaf", { state: "pending", quiet }));
    expect(text).toContain(`LEAF is ${quiet}: `);
    expect(text).not.toContain("pending (since");
  });

  it("says that nothing fires only while nothing is pending", () => {
    expect(why()).toContain("Nothing fires.");
    expect(why(alert("leaf", { state: "pending" }))).toContain("Nothing fires yet.");
  });

  it("has the file of the runbook in the repository, or its URL", () => {
    expect(why(alert("root"))).toContain("Runbook: alerts/runbooks/root.md");
    const text = why(alert("root", { runbook: "https://wiki.example/root.md" }));
    expect(text).toContain("Runbook: https://wiki.example/root.md");
  });
});

describe("status and forecast", () => {
  it.each([
    ["few blocks", validatorWith(20n, 21n), true],
    ["one block too few", validatorWith(0n, 1799n), true],
    ["enough blocks", validatorWith(0n, 1800n), false],
    ["no block", validatorWith(0n, 0n), false],
  ])("say of a month with %s whether its rate says something", (_name, data, isEarly) => {
    for (const report of [statusReport(nowOf([], data)), forecastReport([data])]) {
      const text = renderReport(report, "text");
      expect(/counted blocks\. Its rate says little before 1,800\./.test(text)).toBe(isEarly);
      const { good, bad } = data.assessment.counts;
      expect(report.data).toMatchObject({ validators: [{ too_early: good + bad < 1800n }] });
    }
  });

  const outcomesOf = (data: ValidatorData): readonly string[] =>
    [statusReport(nowOf([], data)), forecastReport([data])].map(({ outcome }) => outcome);
  const tierOf = (data: ValidatorData): string =>
    renderReport(statusReport(nowOf([], data)), "csv")
      .split("\n")[1]
      ?.split(",")
      .slice(2, 4)
      .join(" ") ?? "";

  it("do not judge a month that is too young to tell, as the page", () => {
    for (const data of [validatorWith(20n, 21n), validatorWith(0n, 1799n)]) {
      expect(outcomesOf(data)).toEqual(["fine", "fine"]);
      expect(tierOf(data)).toBe("too early –");
    }
    expect(outcomesOf(validatorWith(0n, 1800n))).toEqual(["problem", "problem"]);
    expect(tierOf(validatorWith(0n, 1800n))).toBe("none 0.00");
    expect(outcomesOf(validatorWith(0n, 0n))).toEqual(["unseen", "unseen"]);
  });

  it("forecast no pay from the few blocks of a young month", () => {
    const young = validatorWith(40n, 1n);
    const { forecast } = young.assessment;
    const given = (basis: "month so far" | "recent hours"): ValidatorData => ({
      ...young,
      assessment: { ...young.assessment, forecast: forecast && { ...forecast, basis } },
    });
    const rowOf = (data: ValidatorData): string =>
      renderReport(forecastReport([data]), "csv").split("\r\n")[1] ?? "";
    expect(rowOf(given("month so far"))).toMatch(/^\S+,97\.5609 %,–,–,–,too early,–$/);
    expect(rowOf(given("recent hours"))).toMatch(/^\S+,97\.5609 %,\d.*,"?\d[\d,]*\.\d\d"?/);
  });

  it.each([
    ["none", 0, [], "Rotation: no risk; 0 months in a row without pay before this one, 0 of the last five."],
    [
      "next",
      2,
      ["2026-08", "2026-09"],
      "Rotation: this month without pay would make the validator a candidate; 2 months in a row without pay before this one, 2 of the last five (2026-08, 2026-09).",
    ],
    [
      "due",
      3,
      ["2026-07", "2026-08", "2026-09"],
      "Rotation: the validator is a candidate; 3 months in a row without pay before this one, 3 of the last five (2026-07, 2026-08, 2026-09).",
    ],
  ] as const)("say how near a rotation is: %s", (state, count, months, text) => {
    const data = validatorWith(9_700n, 300n);
    const rotation = { state, inARow: count, inWindow: count, months };
    const rotated = { ...data, assessment: { ...data.assessment, rotation } };
    expect(renderReport(forecastReport([rotated]), "text").replaceAll(/\s+/g, " ")).toContain(text);
  });

  it("judge by the tier that the month is expected to have, as the page", () => {
    const recovering = validatorWith(9_700n, 300n);
    const { forecast } = recovering.assessment;
    const expecting = (middle: "full" | "proportional"): ValidatorData => ({
      ...recovering,
      assessment: {
        ...recovering.assessment,
        forecast: forecast && { ...forecast, tiers: { ...forecast.tiers, middle } },
      },
    });
    expect(recovering.assessment.tier).toBe("proportional");
    expect(outcomesOf(expecting("full"))).toEqual(["fine", "fine"]);
    expect(outcomesOf(expecting("proportional"))).toEqual(["problem", "problem"]);
  });

  it("call it a problem if full pay is lost, also in a young month", () => {
    const young = validatorWith(1_000n, 0n);
    const [full, ...others] = young.assessment.headroom;
    if (full === undefined) throw new Error("the block time is known");
    const headroom = [{ ...full, state: "lost" as const }, ...others];
    expect(outcomesOf({ ...young, assessment: { ...young.assessment, headroom } })).toEqual([
      "problem",
      "problem",
    ]);
  });
});
