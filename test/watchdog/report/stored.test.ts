import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { REPORT_FORMATS } from "../../../src/platform/report/document.ts";
import type { MissRange } from "../../../src/watchdog/ledger/ledger-view.ts";
import { missesWithin } from "../../../src/watchdog/ledger/miss-ranges.ts";
import { encodeValidatorData, parseValidatorData } from "../../../src/watchdog/report/report-data.ts";
import { handoverReport } from "../../../src/watchdog/report/handover.ts";
import { monthCloseReport } from "../../../src/watchdog/report/month-report.ts";
import type { ValidatorData } from "../../../src/watchdog/report/validator-data.ts";
import { renderReport } from "../../../src/platform/report/render/render-report.ts";
import { openLedgerFile } from "../../../src/watchdog/state/sqlite-state.ts";
import { sampleValidators } from "../../support/report/sample-months.ts";
import { writeSampleStore } from "../../support/report/sample-store.ts";

const NOVEMBER = Date.UTC(2026, 10, 2);
const OCTOBER = { fromMs: Date.UTC(2026, 9, 1), toMs: Date.UTC(2026, 10, 1) };
let folder = "";
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Months from the state file of a watchdog. */
function stored(validators: readonly ValidatorData[]): readonly ValidatorData[] {
  folder = mkdtempSync(join(tmpdir(), "relaywatch-stored-"));
  writeSampleStore(folder, validators);
  const file = openLedgerFile(folder);
  return validators.map((data) => ({
    ...data,
    ledger: file.view(data.ledger.validator) ?? expect.unreachable("the file lacks a validator"),
  }));
}

const texts = (validators: readonly ValidatorData[]): readonly string[] => {
  const shift = { fromMs: NOVEMBER - 12 * 3_600_000, toMs: NOVEMBER };
  return [monthCloseReport(validators, "2026-10"), handoverReport(validators, shift)].flatMap((report) =>
    REPORT_FORMATS.map((format) => renderReport(report, format)),
  );
};

describe("reports", () => {
  it("are the same from the state file of a watchdog", () => {
    const validators = sampleValidators(8, 3, NOVEMBER);
    expect(texts(stored(validators))).toEqual(texts(validators));
  });

  it("are the same from another machine, over HTTP", () => {
    const validators = sampleValidators(8, 3, NOVEMBER).map((data) => ({
      ...data,
      alerts: data.alerts.map((alert, index) => ({
        ...alert,
        quietWhenFired: `silenced by ${index}`,
        ...(index === 0 ? { resolvedAtMs: undefined, quietNow: "muted by another" } : {}),
      })),
    }));
    const sent = validators.map((data) =>
      parseValidatorData(JSON.parse(JSON.stringify(encodeValidatorData(data, OCTOBER, NOVEMBER)))),
    );
    expect(texts(sent)).toEqual(texts(validators));
  });

  it("have every count over HTTP, also what was backfilled", () => {
    const validators = sampleValidators(8, 3, NOVEMBER);
    const count = { good: 3n, bad: 2n, unknown: 1n };
    for (const { ledger, ...data } of validators) {
      const hours = (...range: [number, number]) =>
        ledger
          .hours(...range)
          .map((hour, index) => (index % 2 === 0 ? hour : { ...hour, backfilled: count }));
      const known: readonly MissRange[] = [
        { fromMs: OCTOBER.fromMs, toMs: OCTOBER.fromMs + 5, good: 1n, bad: 2n },
        { fromMs: OCTOBER.fromMs, toMs: OCTOBER.toMs - 1, good: 0n, bad: 3n, blocks: { from: 7n, to: 9n } },
      ];
      const misses = (...part: [number, number]) => missesWithin(known, ...part);
      const encoded = JSON.stringify(
        encodeValidatorData({ ...data, ledger: { ...ledger, hours, misses } }, OCTOBER, NOVEMBER),
      );
      const sent = parseValidatorData(JSON.parse(encoded)).ledger;
      expect(sent.misses(OCTOBER.fromMs, OCTOBER.toMs)).toEqual(known);
      const range = [OCTOBER.fromMs, OCTOBER.toMs] as const;
      expect(sent.hours(...range)).toEqual(hours(...range));
      expect(sent.hours(...range).length).toBeGreaterThan(700);
      expect(sent.months()).toEqual(ledger.months());
    }
  });
});
