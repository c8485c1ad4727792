import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { toBase64, utf8 } from "../../../src/platform/base/bytes.ts";
import type { Relayer } from "../../../src/relayer/create-relayer.ts";
import { WAIT } from "../../support/faulty-localnet.ts";
import { type RelayedLocalnet, startRelayedLocalnet } from "../../support/relayed-localnet.ts";

const QUERIES = 12;

const kvQuery = (index: number): unknown => ({
  register_kv_query: {
    connection_id: "connection-0",
    update_period: 2,
    keys: [{ path: "bank", key: toBase64(Uint8Array.of(0, ...utf8(`denom${index}`))) }],
  },
});

describe("two relayers of the same queries", () => {
  let net: RelayedLocalnet;
  let relayers: readonly Relayer[];
  beforeAll(async () => {
    net = await startRelayedLocalnet({ blockTimeMs: 200 });
    await net.execute(...Array.from({ length: QUERIES }, (_, index) => kvQuery(index)));
    relayers = [net.relayer, await net.startOther()];
  });
  afterAll(() => net.stop());

  it("do not count the results of the other as failures, and none backs off", async () => {
    const failed = new Set<string>();
    const start = relayers[0]?.status().localHeight ?? 0n;
    await vi.waitFor(() => {
      for (const relayer of relayers)
        for (const { id, error } of relayer.status().queries)
          if (error !== undefined) failed.add(`${id}: ${error.code}: ${error.reason}`);
      expect(relayers[0]?.status().localHeight).toBeGreaterThan(start + 30n);
    }, WAIT);
    expect([...failed]).toEqual([]);
    for (const relayer of relayers) {
      const { queries, deadLetters, problems } = relayer.status();
      expect(queries.length).toBeGreaterThan(QUERIES);
      for (const { lateness } of queries) expect(lateness.isOverdue).toBe(false);
      expect([deadLetters, problems]).toEqual([0, []]);
    }
    // Which one is faster is a matter of milliseconds.
    const results = relayers.flatMap((relayer) => relayer.status().queries.map((query) => query.results));
    expect(results.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(QUERIES);
  }, 240_000);
});
