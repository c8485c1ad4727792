import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { registerCostGauges } from "../../../src/relayer/api/cost-gauges.ts";
import type { CostsView } from "../../../src/relayer/costs/create-costs.ts";
import { sampleCosts, sampleSum } from "./cost-samples.ts";

const NOW = 1_800_000_000_000;

async function scrape(more: Partial<CostsView> = {}): Promise<readonly string[]> {
  const registry = new Registry();
  registerCostGauges(
    registry,
    () => sampleCosts(NOW, more),
    () => NOW,
  );
  const text = await registry.metrics();
  return text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.replace("relaywatch_relayer_", ""));
}

describe("the metrics of the costs", () => {
  it("have windows, owners of the month, forecast and time left", async () => {
    const lines = await scrape({ budget: 7n });
    expect(lines).toEqual(
      expect.arrayContaining([
        'window_fees{window="1h"} 5500001',
        'window_fees{window="month"} 5500001',
        'owner_month_fees{owner="neutron1owner"} 5000000',
        'owner_month_fees{owner="neutron1other"} 500001',
        'month_forecast_fees{price="now",bound="expected"} 170000000',
        'month_forecast_fees{price="cap",bound="high"} 9900000000',
        "month_budget_fees 7",
        'empty_seconds{price="cap",bound="soonest"} 9000',
        "costs_complete 1",
      ]),
    );
    expect(lines.filter((line) => line.startsWith("fee_grant"))).toEqual([]);
  });

  it("bound the owners, and lose no fee by it", async () => {
    const queries = Array.from({ length: 300 }, (_, index) =>
      sampleSum(BigInt(index), 10n, { owner: `o${index}` }),
    );
    const windows = sampleCosts(NOW).windows.map((window) => ({ ...window, queries, fee: 3_000n }));
    const owners = (await scrape({ windows })).filter((line) => line.startsWith("owner_month_fees"));
    expect(owners).toHaveLength(21);
    expect(owners).toContain('owner_month_fees{owner="other"} 2800');
  });

  it("are absent before the first read, while it is old, and for what is not known", async () => {
    expect(await scrape({ readAtMs: undefined })).toEqual([]);
    expect(await scrape({ readAtMs: NOW - 301_000 })).toEqual([]);
    const lines = await scrape({ forecast: undefined, incomplete: "no index" });
    expect(lines).toContain("costs_complete 0");
    expect(lines.filter((line) => /^(month_|empty_)/.test(line))).toEqual([]);
  });

  it("show a fee grant", async () => {
    const { payer } = sampleCosts(NOW);
    const allowance = {
      type: "BasicAllowance",
      left: 9n,
      isKnown: true,
      expiresAtMs: 5_000,
      period: undefined,
    };
    const grant = { isRead: true, error: undefined, allowance };
    expect(await scrape({ payer: { ...payer, grant } })).toEqual(
      expect.arrayContaining(["fee_grant_left 9", "fee_grant_expiry_timestamp_seconds 5"]),
    );
  });
});
