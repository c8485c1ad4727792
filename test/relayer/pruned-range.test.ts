import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { silentLogger } from "../../src/platform/base/logger.ts";
import { createRelayerMetrics } from "../../src/relayer/result/relayer-metrics.ts";
import { skipPruned } from "../../src/relayer/tx/tx-cycle.ts";

const signal = new AbortController().signal;

/** Plans the range 10 to 50 on endpoints that have the blocks from `earliest` on. */
async function plan(earliest: bigint, { isSkipped = true, tip = 100n } = {}) {
  const registry = new Registry();
  const lines: unknown[] = [];
  const marks: string[] = [];
  let reads = 0;
  const result = await skipPruned(
    {
      connectionId: "connection-0",
      remote: {
        earliestHeight: async () => {
          reads += 1;
          return earliest;
        },
      },
      logger: { ...silentLogger, warn: (_message, fields) => void lines.push(fields) },
      metrics: createRelayerMetrics(registry, ["connection-0"]),
    },
    {
      journal: { recordSearched: (id, height) => void marks.push(`${id} to ${height}`) },
      queries: { tx_skip_pruned: isSkipped },
    },
    { queryId: 7n, range: { from: 10n, to: 50n }, tip },
    signal,
  );
  const page = await registry.metrics();
  const counted = /^relaywatch_relayer_tx_pruned_blocks_total\{.*\} (\d+)/m.exec(page)?.[1];
  return { result, lines, marks, reads, counted };
}

describe("pruned blocks", () => {
  it("are skipped, named, counted, and count as searched", async () => {
    expect(await plan(30n)).toEqual({
      result: { ok: true, value: { from: 30n, to: 50n } },
      lines: [{ connectionId: "connection-0", queryId: 7n, blocks: "10 to 29" }],
      marks: ["7 to 29"],
      reads: 1,
      counted: "20",
    });
    expect(await plan(60n)).toMatchObject({
      result: { ok: true, value: undefined },
      marks: ["7 to 50"],
      counted: "41",
    });
  });

  it("are a failure of the query when they must not be skipped", async () => {
    expect(await plan(30n, { isSkipped: false })).toMatchObject({
      result: {
        ok: false,
        error: { code: "pruned", reason: "every endpoint has pruned the remote blocks 10 to 29" },
      },
      marks: [],
      counted: "0",
    });
  });

  it("change nothing when the endpoints have all, and are not asked for close to the tip", async () => {
    const whole = { ok: true, value: { from: 10n, to: 50n } };
    expect(await plan(10n)).toMatchObject({ result: whole, marks: [], lines: [], reads: 1 });
    expect(await plan(30n, { tip: 29n })).toMatchObject({ result: whole, marks: [], reads: 0 });
  });
});
