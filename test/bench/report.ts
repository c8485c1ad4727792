import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monthCloseReport, monthReport } from "../../src/watchdog/report/month-report.ts";
import { renderReport } from "../../src/platform/report/render/render-report.ts";
import { openLedgerFile } from "../../src/watchdog/state/sqlite-state.ts";
import { sampleValidators } from "../support/report/sample-months.ts";
import { writeSampleStore } from "../support/report/sample-store.ts";
import type { BenchRow, BenchSettings } from "./bench-row.ts";
import { median } from "./measure.ts";

const VALIDATORS = 20;
const MONTHS = 12;
const NOW = Date.UTC(2026, 10, 2);

/** Creates and prints both reports of a month from a state file of twelve months. */
export function benchReport({ quick }: BenchSettings): readonly BenchRow[] {
  const folder = mkdtempSync(join(tmpdir(), "relaywatch-bench-report-"));
  try {
    const validators = sampleValidators(VALIDATORS, MONTHS, NOW);
    writeSampleStore(folder, validators);
    const run = (): number => {
      const startMs = performance.now();
      const file = openLedgerFile(folder);
      const read = validators.flatMap((data) => {
        const ledger = file.view(data.ledger.validator);
        return ledger === undefined ? [] : [{ ...data, ledger }];
      });
      for (const create of [monthReport, monthCloseReport]) renderReport(create(read, "2026-10"), "text");
      file.close();
      return performance.now() - startMs;
    };
    const times = Array.from({ length: quick ? 3 : 9 }, run);
    const note = `open the file, both reports of one month as text; median of ${times.length}; target 1000 ms`;
    return [{ name: `${MONTHS} months, ${VALIDATORS} validators`, value: median(times), unit: "ms", note }];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
