import { describe, expect, it } from "vitest";
import { silentLogger } from "../../src/platform/base/logger.ts";
import { createClientRefresh } from "../../src/relayer/connection/client-refresh.ts";
import type { LightClientState } from "../../src/cosmos/light-client/client-queries.ts";
import type { ClientReading } from "../../src/relayer/watch/watches.ts";
import { failed, sampleAccount, updates } from "./account-samples.ts";
import { sampleReading } from "./status-samples.ts";

const signal = new AbortController().signal;
const chain = { connectionId: "connection-0", updates: updates.slice(0, 1) };

/** A client that the remote chain is at, and whose trusting period is over for three quarters. */
const client: LightClientState = {
  clientId: "07-tendermint-0",
  chainId: "remote-1",
  latestHeight: { revision: 1n, height: 50n },
  trustingPeriodNs: 1_000_000_000_000n,
  trustLevel: { numerator: 1n, denominator: 3n },
};
const old = sampleReading({ consensusTimeMs: -750, expiresAtMs: 250 });

const unread = (): Promise<never> => Promise.reject(new Error("not read"));

/** The upkeep of one connection. Its client does not become older than `reading` says. */
function setUp({
  reading,
  ...scene
}: { reading?: ClientReading } & Parameters<typeof sampleAccount>[0] = {}) {
  const account = sampleAccount(scene);
  const role = { leads: true };
  let reads = 0;
  const warned: string[] = [];
  const refresh = createClientRefresh({
    ...account.deps,
    localTimeMs: account.clock.nowMs,
    connections: [
      {
        connectionId: "connection-0",
        remote: {
          status: async () => ({
            chainId: "remote-1",
            latestHeight: 50n,
            latestTimeNs: 0n,
            earliestHeight: 1n,
            catchingUp: false,
          }),
          lightBlock: unread,
        },
        watch: {
          view: () => ({ reading, sinceReadMs: 0, error: undefined }),
          read: async () => void (reads += 1),
        },
      },
    ],
    local: {
      clientOfConnection: async () => client.clientId,
      clientState: async () => client,
      clientStatus: async () => "Active",
      consensusState: unread,
      consensusHeights: unread,
    },
    leads: () => role.leads,
    logger: { ...silentLogger, warn: (message) => void warned.push(message) },
  });
  return { ...account, role, refresh, warned, watchReads: () => reads };
}

describe("the refresh of an old client", () => {
  it("sends nothing when the client has the newest block, reads the client again, and rests for a minute", async () => {
    const { refresh, sent, clock, warned, watchReads } = setUp({ reading: old });
    expect(refresh.isDue()).toBe(true);
    await refresh.run(signal);
    expect([sent, warned, watchReads(), refresh.isDue()]).toEqual([[], [], 1, false]);
    await clock.advance(59_999);
    expect(refresh.isDue()).toBe(false);
  });

  it("is not due for a standby", () => {
    const { refresh, role } = setUp({ reading: old });
    role.leads = false;
    expect(refresh.isDue()).toBe(false);
  });
});

describe("updates that results need", () => {
  it("make the upkeep due and wake the submitter, in the order of the requests, each once", async () => {
    const { refresh, sent, deps } = setUp();
    expect(refresh.isDue()).toBe(false);
    const version = deps.height.version();
    const first = refresh.send(chain, signal);
    expect(deps.height.version()).toBeGreaterThan(version);
    const second = refresh.send({ ...chain, updates: updates.slice(3, 4) }, signal);
    expect(refresh.isDue()).toBe(true);
    const running = refresh.run(signal);
    await first;
    await running;
    expect(refresh.isDue()).toBe(true);
    await refresh.run(signal);
    await second;
    expect(refresh.isDue()).toBe(false);
    expect(sent.map(({ messages }) => messages.length)).toEqual([1, 1]);
    expect(sent.map(({ messages }) => messages[0]?.value.length)).toEqual([60, 100]);
  });

  it("are not due twice while they are being sent", async () => {
    const { refresh, clock, sent } = setUp({ ending: () => "none" });
    const rejected = expect(refresh.send(chain, signal)).rejects.toThrow("did not succeed: lost");
    const running = refresh.run(signal);
    await clock.advance(1_000);
    expect([refresh.isDue(), sent.length]).toEqual([false, 1]);
    await clock.advance(120_000);
    await Promise.all([rejected, running]);
  });

  it("are not sent by a standby", async () => {
    const { refresh, role, clock } = setUp();
    const rejected = expect(refresh.send(chain, signal)).rejects.toThrow("within 180 s");
    role.leads = false;
    expect(refresh.isDue()).toBe(false);
    await clock.advance(180_000);
    await rejected;
  });

  it("fail for the worker that needs them, and not for the submitter", async () => {
    const { refresh } = setUp({ ending: () => failed });
    const rejected = expect(refresh.send(chain, signal)).rejects.toThrow(
      "the client update did not succeed: failed",
    );
    await refresh.run(signal);
    await rejected;
  });

  it("are forgotten when the worker does not wait for them any more", async () => {
    const { refresh, clock, sent } = setUp();
    const rejected = expect(refresh.send(chain, signal)).rejects.toMatchObject({
      facts: { code: "transaction-lost", connectionId: "connection-0" },
      message: "the client update was not included within 180 s",
    });
    await clock.advance(180_000);
    await rejected;
    const stop = new AbortController();
    const ended = expect(refresh.send(chain, stop.signal)).rejects.toThrow("stop");
    stop.abort(new Error("stop"));
    await ended;
    expect(refresh.isDue()).toBe(false);
    await refresh.run(signal);
    expect(sent).toEqual([]);
  });
});
