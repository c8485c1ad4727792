import { describe, expect, it } from "vitest";
import { type LogFields, type Logger, silentLogger } from "../../src/platform/base/logger.ts";
import {
  createAccountWatch,
  createClientWatch,
  createWatches,
  createWatchPoller,
} from "../../src/relayer/watch/watches.ts";
import { createHeadWatch } from "../../src/relayer/watch/head-watch.ts";
import { createProblemLog } from "../../src/relayer/health/create-health.ts";
import type { Problem } from "../../src/relayer/health/problems.ts";
import { createManualClock } from "../support/manual-clock.ts";

const START_MS = 1_700_000_000_000;
const signal = new AbortController().signal;
const ns = (ms: number): bigint => BigInt(ms) * 1_000_000n;

function head() {
  const clock = createManualClock(START_MS);
  const watch = createHeadWatch(clock, () => 7n);
  const see = (latestHeight: bigint, latestTimeNs = 0n): void => watch.record({ latestHeight, latestTimeNs });
  return { clock, watch, see };
}

describe("the watch of a chain's newest block", () => {
  it("knows nothing at first", async () => {
    const { clock, watch } = head();
    await clock.advance(3_000);
    expect(watch.view()).toMatchObject({ height: undefined, sinceBlockMs: undefined, sinceReadMs: 3_000 });
  });

  it("counts the time without a new block from its first sight, not from each read", async () => {
    const { clock, watch, see } = head();
    see(5n, ns(START_MS));
    await clock.advance(2_000);
    see(6n, ns(START_MS - 900_000));
    for (let reads = 0; reads < 4; reads++) {
      await clock.advance(1_000);
      see(6n);
    }
    expect(watch.view()).toMatchObject({ height: 6n, sinceBlockMs: 4_000, sinceReadMs: 0 });
    expect(watch.firstFrom(6n)).toEqual({ height: 6n, atMs: START_MS + 2_000, localHeight: 7n });
  });

  it("knows the block time without the first block, which has the time of its header, and follows the newest hundred", async () => {
    const { clock, watch, see } = head();
    see(5n, ns(START_MS - 9_000));
    await clock.advance(1_000);
    see(6n);
    expect(watch.view().blockMs).toBeUndefined();
    await clock.advance(6_000);
    see(8n);
    expect(watch.view().blockMs).toBe(3_000);
    for (let height = 9n; height <= 200n; height++) {
      await clock.advance(1_000);
      see(height);
    }
    expect(watch.view().blockMs).toBe(1_000);
  });

  it("tells the time by the chain, whatever this machine's clock says", async () => {
    const { clock, watch, see } = head();
    expect(watch.view().chainMs).toBe(START_MS);
    see(5n, ns(START_MS - 3_600_000));
    await clock.advance(1_000);
    expect(watch.view().chainMs).toBe(START_MS - 3_599_000);
    see(6n, ns(START_MS + 7_200_000));
    await clock.advance(1_999.6);
    see(6n, ns(START_MS + 7_200_000));
    // Whole: PostgreSQL refuses a fraction for a time.
    expect(watch.view().chainMs).toBe(START_MS + 7_202_000);
    // A notice without the block's time does not lead back to this machine's clock.
    see(7n, 0n);
    expect(watch.view().chainMs).toBe(START_MS + 7_202_000);
  });

  it("sees at its first read that a chain has had no block for an hour", () => {
    const { watch, see } = head();
    see(5n, ns(START_MS - 3_600_000));
    expect(watch.view().sinceBlockMs).toBe(3_600_000);
  });

  it("takes a lower height for an endpoint that is behind, and after a while for a chain that began again", async () => {
    const { clock, watch, see } = head();
    see(900n, ns(START_MS));
    see(5n);
    expect(watch.view().height).toBe(900n);
    await clock.advance(29_000);
    see(6n);
    expect(watch.view()).toMatchObject({ height: 900n, sinceBlockMs: 29_000 });
    await clock.advance(2_000);
    see(7n);
    expect(watch.view()).toMatchObject({ height: 7n, sinceBlockMs: 0 });
  });

  it("begins again at once with a chain that is known to have been reset, and tells its time", async () => {
    const { clock, watch, see } = head();
    see(900n, ns(START_MS + 40 * 86_400_000));
    see(901n, ns(START_MS + 40 * 86_400_000));
    watch.reset();
    expect(watch.view()).toMatchObject({ height: undefined, blockTimeMs: undefined, chainMs: START_MS });
    see(5n, ns(START_MS - 2_000));
    await clock.advance(1_000);
    see(6n);
    expect(watch.view()).toMatchObject({ height: 6n, sinceBlockMs: 0, chainMs: START_MS - 1_000 });
    expect(watch.firstFrom(100n)).toBeUndefined();
  });

  it("keeps an error until the next successful read", () => {
    const { watch, see } = head();
    watch.recordError(new Error("refused"));
    expect(watch.view().error).toBe("refused");
    see(1n);
    expect(watch.view().error).toBeUndefined();
  });
});

describe("the watch of the account", () => {
  function account(balances: (bigint | Error)[]) {
    const clock = createManualClock(0);
    const local = {
      balance: async () => {
        const next = balances.shift() ?? 0n;
        if (next instanceof Error) throw next;
        return next;
      },
    };
    return { clock, watch: createAccountWatch(local, { address: "a", denom: "untrn" }, clock) };
  }

  it("keeps the balance when it cannot be read", async () => {
    const { clock, watch } = account([1_000n, new Error("down"), 2_000n]);
    await watch.read(signal);
    await clock.advance(1_000);
    await watch.read(signal);
    expect(watch.view()).toMatchObject({ balance: 1_000n, sinceReadMs: 1_000, error: "down" });
    await watch.read(signal);
    expect(watch.view()).toMatchObject({ balance: 2_000n, sinceReadMs: 0, error: undefined });
  });

  it("remembers that the node refused a transaction for lack of funds, until it accepts one or coins arrive", async () => {
    const { watch } = account([1_577n, 1_577n, 1_500n, 90_000n]);
    await watch.read(signal);
    watch.recordUnpaid("insufficient funds");
    for (let reads = 0; reads < 2; reads++) {
      await watch.read(signal);
      expect(watch.view().unpaid).toBe("insufficient funds");
    }
    await watch.read(signal);
    expect(watch.view().unpaid).toBeUndefined();
    watch.recordUnpaid("insufficient funds");
    expect(watch.view().unpaid).toBe("insufficient funds");
    watch.recordAccepted();
    expect(watch.view().unpaid).toBeUndefined();
  });
});

describe("the watch of a light client", () => {
  it("reads status and expiry, and keeps them when it cannot be read", async () => {
    const clock = createManualClock(0);
    let isDown = false;
    const local = {
      clientOfConnection: async () => {
        if (isDown) throw new Error("down");
        return "client-0";
      },
      clientState: async (clientId: string) => ({
        clientId,
        chainId: "remote-1",
        latestHeight: { revision: 1n, height: 5n },
        trustingPeriodNs: ns(1_000),
        trustLevel: { numerator: 1n, denominator: 3n },
      }),
      clientStatus: async () => "Expired",
      consensusState: async () => ({ timeNs: ns(START_MS), nextValidatorsHash: new Uint8Array() }),
    };
    const watch = createClientWatch(local, "connection-0", clock);
    await watch.read(signal);
    const reading = { status: "Expired", consensusTimeMs: START_MS, expiresAtMs: START_MS + 1_000 };
    expect(watch.view()).toMatchObject({ reading, error: undefined });
    isDown = true;
    await watch.read(signal);
    expect(watch.view()).toMatchObject({ reading, error: "down" });
  });
});

describe("the poller", () => {
  it("reads chains that nothing else reads, and all endpoints of a chain that has several", async () => {
    const clock = createManualClock(0);
    const queries = {
      clientOfConnection: () => Promise.reject(new Error("down")),
      clientState: () => Promise.reject(new Error("down")),
      clientStatus: () => Promise.reject(new Error("down")),
      consensusState: () => Promise.reject(new Error("down")),
      balance: async () => 5n,
    };
    const connections = [
      { id: "connection-0", chainId: "a-1" },
      { id: "connection-1", chainId: "b-1" },
    ];
    const watches = createWatches(
      connections,
      { address: "a", denom: "d" },
      { queries, clock, localHeight: () => 1n },
    );
    const [lone, several] = watches.connections;
    let checks = 0;
    const status = (latestHeight: bigint, catchingUp = false) =>
      ({
        name: "x",
        ok: true,
        status: { chainId: "b-1", latestHeight, latestTimeNs: 0n, earliestHeight: 1n, catchingUp },
      }) as const;
    const poller = createWatchPoller({
      watches,
      clock,
      local: { endpoints: 1, check: () => Promise.reject(new Error("not called")) },
      remotes: new Map([
        [
          "connection-0",
          {
            endpoints: 1,
            check: async () => ((checks += 1), [{ name: "x", ok: false, error: new Error("no") }]),
          },
        ],
        ["connection-1", { endpoints: 2, check: async () => [status(9n, true), status(7n), status(8n)] }],
      ]),
    });
    const stop = new AbortController();
    const done = poller.run(stop.signal);
    await clock.advance(0);
    expect(lone?.remote.view()).toMatchObject({ height: undefined, error: "no" });
    expect(several?.remote.view()).toMatchObject({ height: 8n, catchingUp: false });
    expect(watches.account.view().balance).toBe(5n);
    expect(checks).toBe(1);
    // Cycles read the chain more often than the poller would.
    for (let seconds = 0; seconds < 20; seconds++) {
      lone?.remote.record({ latestHeight: BigInt(seconds), latestTimeNs: 0n });
      await clock.advance(1_000);
    }
    expect(checks).toBe(1);
    await clock.advance(10_000);
    expect(checks).toBeGreaterThan(1);
    stop.abort(new Error("stop"));
    await done;
  });
});

describe("the problem log", () => {
  it("logs one warning when a problem begins, and one line when it is over, also when it flaps", async () => {
    const clock = createManualClock(0);
    const lines: string[] = [];
    const line =
      (level: string) =>
      (message: string, fields: LogFields = {}): void =>
        void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
    const logger: Logger = { ...silentLogger, info: line("info"), warn: line("warn") };
    let problems: readonly Problem[] = [{ code: "starting", connectionId: undefined, text: "not yet" }];
    const log = createProblemLog({ problems: () => problems, clock, logger });
    const stop = new AbortController();
    const done = log.run(stop.signal);
    await clock.advance(5_000);
    expect(lines).toEqual([]);
    const late = (text: string): Problem => ({ code: "queries-overdue", connectionId: "connection-0", text });
    for (let seconds = 0; seconds < 60; seconds++) {
      problems = seconds % 10 < 5 ? [late(`late ${seconds}`)] : [];
      await clock.advance(1_000);
    }
    expect(lines).toEqual([
      'warn problem {"code":"queries-overdue","connectionId":"connection-0","reason":"late 0"}',
    ]);
    await clock.advance(15_000);
    expect(lines.slice(1)).toEqual([
      'info problem is over {"code":"queries-overdue","connectionId":"connection-0","lasted":"54 s"}',
    ]);
    stop.abort(new Error("stop"));
    await done;
  });
});
