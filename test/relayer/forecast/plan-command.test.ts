import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type CliResult, runCommand } from "../../support/cli-chain.ts";

const { signal } = new AbortController();
const plan = (...args: readonly string[]): Promise<CliResult> =>
  runCommand(["relayer", "plan", ...args], signal);

async function planned(...args: readonly string[]): Promise<unknown> {
  const { out, message } = await plan(...args, "--json");
  expect(message).toBeUndefined();
  return JSON.parse(out);
}

describe("relaywatch relayer plan", () => {
  it("prints what the worked example in the documentation says", async () => {
    const readme = readFileSync(new URL("../../../docs/relayer.md", import.meta.url), "utf8");
    const [, example] = /\$ relaywatch relayer plan --queries 1000\n(.*?)\n```/s.exec(readme) ?? [];
    expect((await plan("--queries", "1000")).out.trimEnd()).toBe(example);
  });

  it("prints what docs/what-results-cost.md shows of it", async () => {
    const page = readFileSync(new URL("../../../docs/what-results-cost.md", import.meta.url), "utf8");
    const [, args = "", example = ""] = /\$ relaywatch relayer plan ([^\n]*)\n(.*?)\n```/s.exec(page) ?? [];
    const { out } = await plan(...args.split(" "));
    expect(example.split("\n").length).toBeGreaterThan(5);
    expect(out).toContain(example);
  });

  it("uses the fee market of the deployed chain without a configuration", async () => {
    expect(await planned("--queries", "1")).toMatchObject({
      source: "deployed-chain-defaults",
      queries: 1,
      denom: "untrn",
      minimum: "0.002500000000000000",
      ceiling: "0.005000000000000000",
      target_gas: "15000000",
      others_gas: "0",
      block_seconds: 1,
      demand_above_market: false,
      remedies: [],
    });
  });

  it("takes period, gas, callback, others, block time and ceiling", async () => {
    const args = ["--queries", "600", "--period", "2", "--gas", "30k", "--callback-gas", "65000"];
    const facts = ["--others", "5M", "--block-time", "2s", "--ceiling", "0.0075"];
    expect(await planned(...args, ...facts)).toMatchObject({
      // 300 × 95,000 + 195,000
      demand_gas: "28695000",
      sustainable_gas: "10000000",
      // 9,805,000 / 95,000
      sustainable_results: 103.2,
      others_gas: "5000000",
      block_seconds: 2,
      ceiling: "0.007500000000000000",
      demand_above_market: true,
      // 600 × 95,000 / 9,805,000 - 2
      late_blocks: 3.8,
      // 10,000,000 × 43,200 × 0.0025 × 1.05
      cost_per_day: "1134000000",
      cost_per_month: "34020000000",
      remedies: [
        { kind: "longer-periods", factor: 2.91, cost_per_day: "1134000000" },
        { kind: "higher-ceiling", ceiling: "0.015000000000000000" },
        // 300 × 30,000 + 195,000 = 9,195,000
        { kind: "fewer-callbacks", late_blocks: 0, cost_per_day: "1042713000" },
      ],
    });
  });

  it("names a market that leaves nothing, and a ceiling that does not limit", async () => {
    const { out } = await plan("--queries", "10", "--others", "15M", "--ceiling", "1");
    expect(out).toMatch(/^late +∞ {2}blocks: others use the whole target$/m);
    expect(out).toMatch(/^fresh +– {2}no results$/m);
    expect(out).toContain("the ceiling is not below the cap");
    expect(await planned("--queries", "10", "--others", "15M")).toMatchObject({ late_blocks: null });
  });

  it.each([
    [[], /specify a number of queries with --queries, or a relayer/],
    [["--queries", "9", "--url", "http://x"], /--url requires --config or --from-env/],
    [["--queries", "0"], /from 1 to 1,000,000/],
    [["--queries", "1000001"], /from 1 to 1,000,000/],
    [["--queries", "10", "--period", "0"], /expected a positive integer/],
    [["--queries", "10", "--gas", "5G"], /a gas amount/],
    [["--queries", "10", "--gas", "0"], /expected a gas amount of at least 1, e.g./],
    [["--queries", "10", "--ceiling", "0"], /expected a price/],
    [["--queries", "10", "--ceiling", "1e3"], /expected a price/],
  ])("refuses %j", async (args, message) => {
    const refused = await plan(...args);
    expect(refused).toMatchObject({ exitCode: 2 });
    expect(`${refused.message}${refused.usage}`).toMatch(message);
  });
});
