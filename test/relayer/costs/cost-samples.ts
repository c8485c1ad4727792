import type { CostsView } from "../../../src/relayer/costs/create-costs.ts";
import type { QuerySum } from "../../../src/relayer/costs/cost-ledger.ts";
import { COST_WINDOWS, windowStart } from "../../../src/relayer/costs/cost-windows.ts";
import type { Range } from "../../../src/relayer/forecast/forecast.ts";

/** What a query cost. */
export const sampleSum = (queryId: bigint, fee: bigint, more: Partial<QuerySum> = {}): QuerySum => ({
  queryId,
  owner: "neutron1owner",
  results: 10,
  gas: 900_000n,
  fee,
  updateFee: fee / 4n,
  failedFee: 0n,
  ...more,
});

const range = (expected: bigint): Range => ({
  low: (expected * 9n) / 10n,
  expected,
  high: (expected * 11n) / 10n,
});

/** Costs of two owners at a time, with a forecast and without a budget. */
export function sampleCosts(nowMs: number, more: Partial<CostsView> = {}): CostsView {
  const queries = [
    sampleSum(1n, 4_000_000n),
    sampleSum(2n, 1_000_000n, { failedFee: 30_000n }),
    sampleSum(3n, 500_001n, { owner: "neutron1other" }),
  ];
  return {
    denom: "untrn",
    unit: { denom: "untrn", name: "NTRN", exponent: 6 },
    payer: {
      address: "neutron1payer",
      signer: "neutron1payer",
      balance: 250_000_000n,
      reserve: 0n,
      grant: undefined,
    },
    readAtMs: nowMs - 7_000,
    sinceMs: nowMs - 40 * 86_400_000,
    windows: COST_WINDOWS.map((name) => {
      const { fromMs } = windowStart(name, nowMs);
      return { name, fromMs, coveredFromMs: fromMs, queries, fee: 5_500_001n };
    }),
    forecast: {
      regimes: [
        { name: "hours", feePerDay: 5_000_000n },
        { name: "days", feePerDay: 6_000_000n },
      ],
      width: 0.12,
      perDay: { now: range(5_500_000n), cap: range(2_200_000_000n) },
      month: { now: range(170_000_000n), cap: range(9_000_000_000n) },
      empty: {
        now: { soonestMs: 41 * 86_400_000, expectedMs: 45 * 86_400_000, latestMs: 50 * 86_400_000 },
        cap: { soonestMs: 9_000_000, expectedMs: 9_800_000, latestMs: 11_000_000 },
      },
      owners: [
        { owner: "neutron1owner", spent: 5_000_000n, month: range(150_000_000n) },
        { owner: "neutron1other", spent: 500_001n, month: range(20_000_000n) },
      ],
      newQueries: 1,
      goneQueries: 0,
    },
    budget: undefined,
    incomplete: undefined,
    nameOf: (owner) =>
      owner === "neutron1owner"
        ? { label: "Lending <market>", creator: "neutron1creator", admin: "neutron1dao" }
        : undefined,
    ...more,
  };
}
