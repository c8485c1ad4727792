import { describe, expect, it } from "vitest";
import { DEC18_ONE } from "../../../src/platform/base/decimal.ts";
import { defaultParams } from "../../../src/localnet/chain/modules/feemarket/params.ts";
import type { SimBlock, SimMarket } from "./sim-node.ts";
import { bankKey } from "./sim-remote.ts";
import { type SimOptions, type SimWorld, startWorld } from "./sim-world.ts";

/** A market of which the target has place for about fifty results, so that a simulation is fast. */
const PARAMS = { ...defaultParams("untrn"), maxBlockUtilization: 3_300_000n };
const MINIMUM = PARAMS.minBaseGasPrice;
const TARGET = PARAMS.maxBlockUtilization / 2n;
/** Gas of a result with its share of transaction and client update. */
const RESULT_GAS = 28_000n;

async function world(
  queries: number,
  others: SimMarket["others"],
  options: Partial<SimOptions> = {},
): Promise<SimWorld> {
  const one = await startWorld(5, 1, {
    hasQueries: false,
    resultsPerTx: 30,
    market: { params: PARAMS, others },
    ...options,
  });
  one.setTraffic(false);
  for (let key = 0; key < queries; key++)
    one.local.register({
      type: "kv",
      connectionId: "connection-0",
      updatePeriod: 1n,
      keys: [{ path: "bank", key: bankKey(key % 8) }],
    });
  return one;
}
const mean = (blocks: readonly SimBlock[], of: (block: SimBlock) => bigint): number =>
  blocks.reduce((sum, block) => sum + Number(of(block)), 0) / blocks.length;
const times = (price: bigint): number => Number((price * 1_000n) / MINIMUM) / 1_000;

describe("a relayer on a chain with a fee market", () => {
  it("X", async () => {
    for (const [name, others, callMs] of [
      ["none", () => 0n, undefined],
      ["const", () => 900_000n, undefined],
      ["none200", () => 0n, { local: 100, remote: 100 }],
      ["const200", () => 900_000n, { local: 100, remote: 100 }],
      ["alt", (h: bigint) => (h % 2n) * 1_500_000n, undefined],
      ["hostile", (_h: bigint, { left }: { left: bigint }) => left, undefined],
    ] as const) {
      const one = await world(150, others as SimMarket["others"], callMs === undefined ? {} : { callMs });
      await one.run(200);
      const blocks = one.local.node.blocks();
      const tail = blocks.slice(100);
      const cost =
        tail.reduce((s, b) => s + Number(b.fees), 0) /
        tail.reduce((s, b) => s + Number(b.own), 0) /
        (Number(MINIMUM) / 1e18);
      console.log(
        name,
        "own",
        mean(tail, (b) => b.own),
        "T-others",
        Number(TARGET) - mean(tail, (b) => b.others),
        "price",
        times(BigInt(Math.round(mean(tail, (b) => b.price)))),
        "max",
        Math.max(...blocks.map((b) => times(b.price))),
        "cost",
        cost,
        "results",
        tail.reduce((s, b) => s + b.results, 0) / 100,
        blocks
          .slice(0, 30)
          .map((b) => `${b.results}@${times(b.price).toFixed(2)}`)
          .join(" "),
      );
      console.log(
        one.local.violations(),
        await one.stop(),
        one.log.slice(-3),
        tail
          .slice(0, 20)
          .map(
            (b) =>
              `${b.results} ${b.own} ${(Number(b.fees) / ((Number(b.own) * Number(b.price)) / 1e18)).toFixed(3)}`,
          )
          .join(" | "),
        (await one.metrics.getMetricsAsJSON())
          .filter((m) => /transactions_total/.test(m.name))
          .map((m) => JSON.stringify(m.values)),
      );
    }
  });
});
