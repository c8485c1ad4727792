import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { deep } from "../../support/e2e/localnet-endpoints.ts";
import { type RelayedLocalnet, startRelayedLocalnet } from "../../support/relayed-localnet.ts";

const WAIT = { timeout: 60_000, interval: 50 };

describe("a relayer whose chains go back to a snapshot", () => {
  let net: RelayedLocalnet;
  beforeAll(async () => {
    net = await startRelayedLocalnet({ blockTimeMs: 200 });
  });
  afterAll(() => net.stop());

  const query = () => net.relayer.status().queries.find(({ id }) => id === 1n);
  const height = (): bigint => net.relayer.status().localHeight ?? 0n;
  const warnings = (): number =>
    net.log.filter(({ message }) => message === "the local chain was reset, its state is deleted").length;

  // One that stays behind the heights before, and one that is past them before anybody would think of a reset.
  it.each([40n, 3n])(
    "by %s blocks says so, and proves new values again at once",
    { timeout: 300_000 },
    async (blocks) => {
      await vi.waitFor(() => expect(query()?.results ?? 0).toBeGreaterThan(0), WAIT);
      await net.post("snapshots", {});
      const snapshotHeight = height();
      for (const chain of ["local-1", "remote-1"])
        await net.control(`${chain}/blocks`, { count: Number(blocks) });
      await vi.waitFor(() => expect(height()).toBeGreaterThan(snapshotHeight + blocks), WAIT);
      const [before, warned] = [height(), warnings()];
      const id = Number(deep(await net.post("snapshots", {}), ["id"]));
      await net.post("snapshots/revert", { id: id - 1 });
      await vi.waitFor(() => expect(warnings()).toBe(warned + 1), WAIT);
      const results = query()?.results ?? 0;
      await vi.waitFor(() => expect(query()?.results ?? 0).toBeGreaterThan(results), WAIT);
      if (blocks > 10n) {
        const { local, connections } = net.relayer.status();
        for (const known of [height(), local.height, connections[0]?.remote.height])
          expect(known ?? 0n).toBeLessThan(before);
      }
      expect(query()?.error).toBeUndefined();
    },
  );
});
