import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { REPORT_FORMATS, type Report } from "../../../src/platform/report/document.ts";
import { handoverReport } from "../../../src/watchdog/report/handover.ts";
import { monthCloseReport, monthReport } from "../../../src/watchdog/report/month-report.ts";
import { relayerReport } from "../../../src/relayer/report/relayer-report.ts";
import { FILE_ENDINGS, renderReport } from "../../../src/platform/report/render/render-report.ts";
import { sampleRelayerData } from "../../support/report/sample-attempts.ts";
import { sampleValidators } from "../../support/report/sample-months.ts";

const NOVEMBER = Date.UTC(2026, 10, 2);
const SHIFT_END = Date.UTC(2026, 9, 12, 12);

/** What each golden file shows. The texts were read by eye; `test/vectors/report/SOURCE.md` says how to renew them. */
const REPORTS: Readonly<Record<string, () => Report>> = {
  "oracle-2026-10": () => monthReport(sampleValidators(20, 2, NOVEMBER), "2026-10"),
  "month-close-2026-10": () => monthCloseReport(sampleValidators(20, 2, NOVEMBER), "2026-10"),
  "handover-12h": () =>
    handoverReport(duringShift(), { fromMs: SHIFT_END - 12 * 3_600_000, toMs: SHIFT_END }),
  "relayer-24h": () => relayerReport(sampleRelayerData(NOVEMBER)),
};

/** Four validators at noon of a day on which the second one's sidecar is down. */
function duringShift() {
  return sampleValidators(4, 1, SHIFT_END).map((data) => ({
    ...data,
    alerts: data.alerts
      .filter(({ firedAtMs }) => firedAtMs < SHIFT_END)
      .map((alert) => ({
        ...alert,
        resolvedAtMs: (alert.resolvedAtMs ?? SHIFT_END) < SHIFT_END ? alert.resolvedAtMs : undefined,
      })),
  }));
}

const CASES = Object.entries(REPORTS).flatMap(([name, create]) =>
  REPORT_FORMATS.map((format) => ({ file: `${name}.${FILE_ENDINGS[format]}`, create, format })),
);

describe("reports", () => {
  it.each(CASES)("$file is as it was read", async ({ file, create, format }) => {
    await expect(renderReport(create(), format)).toMatchFileSnapshot(`golden/${file}`);
  });

  it("have no golden file without a report", () => {
    expect(readdirSync(new URL("golden", import.meta.url)).toSorted()).toEqual(
      CASES.map(({ file }) => file).toSorted(),
    );
  });

  it("of a sealed month are the same bytes each time, also much later", () => {
    const later = Date.UTC(2027, 1, 17);
    for (const create of [monthReport, monthCloseReport]) {
      const [first, again, after] = [
        create(sampleValidators(20, 2, NOVEMBER), "2026-10"),
        create(sampleValidators(20, 2, NOVEMBER), "2026-10"),
        create(sampleValidators(20, 5, later), "2026-10"),
      ].map((report) => REPORT_FORMATS.map((format) => renderReport(report, format)));
      expect(again).toEqual(first);
      expect(after).toEqual(first);
    }
  });
});
