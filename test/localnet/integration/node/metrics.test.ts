import { parsePrometheusText } from "../../../support/watchdog/prometheus-page.ts";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { utf8 } from "../../../../src/platform/base/bytes.ts";
import { toNodeReading } from "../../../../src/watchdog/sources/node-reading.ts";
import { startTestNode } from "../../../support/test-node.ts";

const recorded = readFileSync(
  new URL("../../../fixtures/metrics/node-26660-healthy.prom", import.meta.url),
  "utf8",
);

/** Families that a real node shows only after its validator missed a block. The recording does not have them. */
const NOT_RECORDED = ["cometbft_consensus_validator_missed_blocks"];

/** HELP and TYPE lines by family. */
function families(page: string): ReadonlyMap<string, string> {
  const lines = page.split("\n").filter((line) => /^# (HELP|TYPE) /.test(line));
  const found = new Map<string, string>();
  for (const line of lines) {
    const name = line.split(" ")[2] ?? "";
    found.set(name, `${found.get(name) ?? ""}${line}\n`);
  }
  return found;
}

/** The sorted label names of each series of a family, without `le` of histograms. */
function labelsOf(page: string, family: string): ReadonlySet<string> {
  const series = page
    .split("\n")
    .filter((line) => new RegExp(`^${family}(_bucket|_sum|_count)?[{ ]`).test(line));
  return new Set(
    series.map((line) =>
      [...line.matchAll(/(\w+)="/g)]
        .map((match) => match[1] ?? "")
        .filter((name) => name !== "le")
        .toSorted((a, b) => (a < b ? -1 : 1))
        .join(),
    ),
  );
}

/** Upper bounds of a histogram. */
function boundsOf(page: string, family: string): ReadonlySet<string> {
  return new Set(
    [...page.matchAll(new RegExp(`^${family}_bucket.*le="([^"]+)"`, "gm"))].map((match) => match[1] ?? ""),
  );
}

describe("the metrics endpoint", () => {
  it("has the names, help texts, types, labels and buckets of a real node", async () => {
    const node = await startTestNode({
      powers: [10n, 1n],
      startHalted: false,
      oracle: { address: "http://127.0.0.1:1", timeoutMs: 10 },
      metrics: { host: "127.0.0.1", port: 0, portOption: "--metrics-port" },
    });
    node.view.broadcast(utf8("a=1"));
    await expect.poll(() => node.view.status().latestHeight).toBeGreaterThan(2n);
    const response = await fetch(`http://127.0.0.1:${node.ports.get("metrics")}/any/path`);
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const page = await response.text();
    const theirs = families(recorded);
    const ours = [...families(page)].filter(([name]) => !NOT_RECORDED.includes(name));
    expect(ours.length).toBeGreaterThanOrEqual(30);
    for (const [name, lines] of ours) {
      expect(lines, name).toBe(theirs.get(name));
      expect(boundsOf(page, name), name).toEqual(
        boundsOf(page, name).size === 0 ? new Set() : boundsOf(recorded, name),
      );
      const labels = labelsOf(page, name);
      expect(
        [...labels].every((one) => labelsOf(recorded, name).has(one)),
        name,
      ).toBe(true);
    }
    expect(page).toMatch(/^cometbft_consensus_validators_power\{chain_id="kv-1"\} 11$/m);
    await node.stop();
  });

  it("shows chain and height before the first block", async () => {
    const node = await startTestNode({
      metrics: { host: "127.0.0.1", port: 0, portOption: "--metrics-port" },
    });
    const page = await (await fetch(`http://127.0.0.1:${node.ports.get("metrics")}/metrics`)).text();
    expect(page).toMatch(/^cometbft_consensus_height\{chain_id="kv-1"\} 1$/m);
    expect(page).not.toContain("latest_block_height{");
    for (const name of ["mempool_failed_txs", "mempool_recheck_times", "state_validator_set_updates"])
      expect(page).toMatch(new RegExp(`^cometbft_${name}\\{chain_id="kv-1"\\} 0$`, "m"));
    expect(toNodeReading(parsePrometheusText(utf8(page)).samples)).toMatchObject({
      chainId: "kv-1",
      height: 0n,
      success: 0n,
    });
    await node.stop();
  });
});
