import { describe, expect, it, vi } from "vitest";
import { systemClock } from "../../../src/platform/base/clock.ts";
import { DAY_MS } from "../../../src/platform/base/time.ts";
import { startRelayedLocalnet } from "../../support/relayed-localnet.ts";

describe("a relayer on a machine whose clock is wrong", () => {
  // The trusting period is two weeks.
  it.each([40, -40])(
    "by %i days proves values, since the chain's time decides what has expired",
    async (days) => {
      const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + days * DAY_MS };
      const net = await startRelayedLocalnet({ blockTimeMs: 200, clock });
      try {
        const seen = new Set<string>();
        await vi.waitFor(
          () => {
            const status = net.relayer.status();
            for (const { code } of status.problems) seen.add(code);
            expect(status.queries[0]?.results ?? 0).toBeGreaterThan(2);
          },
          { timeout: 90_000, interval: 50 },
        );
        expect([...seen].filter((code) => code.startsWith("client-"))).toEqual([]);
        expect(net.relayer.status().problems).toEqual([]);
      } finally {
        await net.stop();
      }
    },
  );
});
