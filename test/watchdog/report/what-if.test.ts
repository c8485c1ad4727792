import { expect, it } from "vitest";
import { whatIfReport } from "../../../src/watchdog/report/forecast-report.ts";
import { sampleValidators } from "../../support/report/sample-months.ts";

const [DATA = expect.unreachable("no validator")] = sampleValidators(1, 1, Date.UTC(2026, 9, 12));

it("what-if says why there is no number", () => {
  const texts = (misses: bigint | undefined): string =>
    JSON.stringify(whatIfReport([DATA], { name: "an outage of 4 h", misses: () => misses }).blocks);
  expect(texts(undefined)).toContain(
    "the block time is not known yet: the watchdog needs 30 blocks to measure it",
  );
  expect(texts(14_400n)).not.toContain("not known");
});
