import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../../src/platform/base/clock.ts";
import { silentLogger } from "../../../../src/platform/base/logger.ts";
import { createOracleClient } from "../../../../src/localnet/node/oracle/oracle-client.ts";
import type { FaultName } from "../../../../src/localnet/sidecar/faults.ts";
import { createSidecar, type Sidecar } from "../../../../src/localnet/sidecar/sidecar.ts";

/** Patience on a busy machine. */
const SOON = { timeout: 60_000 };

const ANY = { host: "127.0.0.1", port: 0 };
const end = new AbortController();
const runs: Promise<void>[] = [];

async function start(): Promise<{ sidecar: Sidecar; client: ReturnType<typeof createOracleClient> }> {
  const deps = { clock: systemClock, logger: silentLogger };
  const listen = { prices: ANY, oracleMetrics: ANY, sidecarMetrics: ANY };
  const sidecar = createSidecar(
    { chainId: "local-1", seed: 1, listen, updateIntervalMs: 10, slowMs: 5000, drainMs: 20 },
    deps,
  );
  runs.push(sidecar.run(end.signal));
  const { prices } = await sidecar.ready;
  const client = createOracleClient({ address: `http://127.0.0.1:${prices.port}`, timeoutMs: 250 }, deps);
  return { sidecar, client };
}

afterEach(async () => {
  end.abort();
  await Promise.all(runs.splice(0));
});

/** Votes as the node counts them: a price map that is empty is a success there. */
const EFFECTS: readonly (readonly [FaultName, boolean, number])[] = [
  ["sidecar-down", false, 0],
  ["sidecar-killed", false, 0],
  ["startup", true, 0],
  ["market-map-empty", true, 0],
  ["all-prices-missing", true, 0],
  ["pair-missing", true, 7],
  ["major-pairs-missing", true, 5],
  ["malformed-price", true, 0],
  ["slow", false, 0],
  ["http-500", false, 0],
  ["websocket-providers-down", true, 8],
  ["websocket-flap", true, 8],
  ["provider-rate-limited", true, 8],
  ["provider-blocked", true, 8],
  ["provider-no-response", true, 8],
  ["provider-invalid-response", true, 8],
  ["provider-decode-error", true, 8],
  ["timestamp-stale", true, 8],
  ["v1-only", true, 8],
  ["v2-only", true, 8],
];

describe("the local node's oracle client against the sidecar", () => {
  it("votes with all prices, and with the effect of each fault", async () => {
    const { sidecar, client } = await start();
    const vote = async () => {
      const { success, prices } = await client.vote(end.signal);
      return [success, prices.size];
    };
    await expect.poll(vote, SOON).toEqual([true, 8]);
    for (const [fault, success, prices] of EFFECTS) {
      await sidecar.setFault(fault, true);
      await expect.poll(vote, SOON).toEqual([success, prices]);
      await sidecar.setFault(fault, false);
      await expect.poll(vote, SOON).toEqual([true, 8]);
    }
    expect(EFFECTS).toHaveLength(sidecar.faults().length);
  });
});
