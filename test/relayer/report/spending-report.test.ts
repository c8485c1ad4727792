import { describe, expect, it } from "vitest";
import { parseDec18 } from "../../../src/platform/base/decimal.ts";
import { renderReport } from "../../../src/platform/report/render/render-report.ts";
import type { CostsView } from "../../../src/relayer/costs/create-costs.ts";
import {
  type CostGroup,
  encodeSpending,
  parseSpending,
  spendingView,
  unitOf,
} from "../../../src/relayer/costs/spending-view.ts";
import { spendingReport } from "../../../src/relayer/report/spending-text.ts";
import { sampleCosts, sampleSum } from "../costs/cost-samples.ts";

/** 2027-01-15T08:00:00Z */
const NOW = 1_800_000_000_000;

/** What the relayer sends. */
function sentOf(group: CostGroup, more: Partial<CostsView> = {}): unknown {
  return JSON.parse(JSON.stringify(encodeSpending(spendingView(sampleCosts(NOW, more), group))));
}

/** The report as it is made from what the relayer sends. */
const reportOf = (group: CostGroup, more: Partial<CostsView> = {}) =>
  spendingReport(parseSpending(sentOf(group, more)));
const textOf = (group: CostGroup, more: Partial<CostsView> = {}): string =>
  renderReport(reportOf(group, more), "text").replaceAll(/ +/g, " ");

describe("report relayer --by", () => {
  it("prints who pays, the windows, the owners with their forecast", () => {
    const text = textOf("owner");
    expect(text).toContain(
      "The relayer's own account neutron1payer pays. It has 250 NTRN (250,000,000 untrn).",
    );
    expect(text).toMatch(/Last hour 2027-01-15 07:05 5\.500001 NTRN \(5,500,001 untrn\) 1\.375 0\.03 30/);
    expect(text).toContain("neutron1owner Lending <market> 5 5 5 5 5 150");
    expect(text).toContain("present 5.5 (4.95 to 6.05) 170 (153 to 187) 45 d (41 d to 50 d)");
    expect(text).toContain("What comes back");
    expect(reportOf("owner").outcome).toBe("fine");
  });

  it("lists queries, the most expensive first, and all of them as CSV in base units", () => {
    expect(textOf("query")).toMatch(
      /1 neutron1owner Lending <market> 4 4 4 4 4\n2 neutron1owner .*\n3 neutron1other/,
    );
    expect(reportOf("query").csv).toEqual({
      columns: ["query_id", "label", "fee_1h", "fee_24h", "fee_7d", "fee_30d", "fee_month"],
      rows: [
        ["1", "Lending <market>", "4000000", "4000000", "4000000", "4000000", "4000000"],
        ["2", "Lending <market>", "1000000", "1000000", "1000000", "1000000", "1000000"],
        ["3", "", "500001", "500001", "500001", "500001", "500001"],
      ],
    });
  });

  it("is a problem over the budget and when sums may be missing, and unseen before the first read", () => {
    expect(reportOf("owner", { budget: 200_000_000n }).outcome).toBe("fine");
    // Between the expected 170 million and the highest estimate.
    expect(reportOf("owner", { budget: 175_000_000n }).outcome).toBe("fine");
    expect(reportOf("owner", { budget: 100_000_000n }).outcome).toBe("problem");
    expect(textOf("owner", { budget: 1n })).toContain(
      "Over budget: more than 0.000001 NTRN (1 untrn) was paid",
    );
    expect(reportOf("owner", { incomplete: "no index" }).outcome).toBe("problem");
    expect(reportOf("owner", { readAtMs: undefined, windows: [], forecast: undefined }).outcome).toBe(
      "unseen",
    );
  });

  it("has base units alone without a unit, and the value with a price", () => {
    expect(textOf("owner", { unit: undefined })).toContain("It has 250,000,000 untrn.");
    const unit = {
      denom: "untrn",
      name: "NTRN",
      exponent: 6,
      price: { currency: "USD", perUnit: parseDec18("0.35") },
    };
    expect(textOf("owner", { unit })).toContain("250 NTRN (250,000,000 untrn, 87.50 USD)");
    expect(unitOf(parseSpending(sentOf("owner", { unit })))).toEqual(unit);
  });

  it("keeps the sum of a window when a response leaves rows out", () => {
    const queries = Array.from({ length: 1_200 }, (_, index) => sampleSum(BigInt(index + 1), BigInt(index)));
    const [window] = sampleCosts(NOW).windows;
    if (window === undefined) throw new Error("no window");
    const fee = queries.reduce((sum, one) => sum + one.fee, 0n);
    const [parsed] = parseSpending(sentOf("query", { windows: [{ ...window, queries, fee }] })).windows;
    const listed = parsed?.rows.reduce((sum, row) => sum + row.fee, 0n) ?? 0n;
    expect(parsed?.rows).toHaveLength(1_000);
    expect(parsed?.others?.rows).toBe(200);
    expect(listed + (parsed?.others?.fee ?? 0n)).toBe(fee);
  });

  it("refuses what no relayer sends", () => {
    const sent = encodeSpending(spendingView(sampleCosts(NOW), "owner"));
    for (const change of [{ denom: 5 }, { budget: "-1" }, { windows: [{}] }, { read_at: "yesterday" }])
      expect(() => parseSpending({ ...sent, ...change })).toThrow();
  });
});
