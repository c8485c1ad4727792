import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { pause, raceAbort, withDeadline, withTimeout } from "../../../../src/platform/base/abort.ts";
import { systemClock } from "../../../../src/platform/base/clock.ts";
import { silentLogger } from "../../../../src/platform/base/logger.ts";
import { createWakeSignal, createMutex } from "../../../../src/platform/base/waits.ts";
import { createChainClient } from "../../../../src/cosmos/client/create-chain-client.ts";
import { silentObserver } from "../../../../src/cosmos/client/rpc-caller.ts";
import { answerCalls, startRpcServer, statusResult } from "../../../support/client/rpc-server.ts";
import { createHeightSignal } from "../../../../src/relayer/registry/registry.ts";

const listeners = (signal: AbortSignal): number => getEventListeners(signal, "abort").length;

describe("a signal that lives as long as the process", () => {
  it("has one listener during and after a thousand calls, also of calls that fail", async () => {
    const life = new AbortController();
    const server = await startRpcServer((exchange) =>
      answerCalls(exchange, (method) => {
        if (method === "status") return statusResult("test-1", 7n);
        if (method === "odd") throw new Error("no");
        return {};
      }),
    );
    const client = createChainClient(
      { endpoints: [{ url: server.url }], chainId: "test-1" },
      { clock: systemClock, random: Math.random, logger: silentLogger, observer: silentObserver },
    );
    const calls = Array.from({ length: 1_000 }, (_, index) =>
      client.pool.call(index % 3 === 0 ? "odd" : "even", {}, life.signal).catch(() => undefined),
    );
    expect(listeners(life.signal)).toBe(1);
    await Promise.all(calls);
    expect(listeners(life.signal)).toBeLessThanOrEqual(1);
    client.close();
    await server.close();
  });

  it("has one listener while many sleep, as transactions without a response do", async () => {
    const life = new AbortController();
    const sleeps = Array.from({ length: 20 }, () => systemClock.sleep(60_000, life.signal));
    expect(listeners(life.signal)).toBe(1);
    life.abort(new Error("over"));
    for (const { status } of await Promise.allSettled(sleeps)) expect(status).toBe("rejected");
  });

  it("has one listener after the waits of workers, senders and loops", async () => {
    const life = new AbortController();
    const { signal } = life;
    const [mutex, wakeSignal] = [createMutex(), createWakeSignal()];
    const height = createHeightSignal(systemClock, () => {});
    for (let turn = 0; turn < 200; turn++) {
      const woken = wakeSignal.next(signal);
      const changed = height.changedSince(height.version(), 1_000, signal);
      height.set(BigInt(turn), 0n);
      wakeSignal.wake();
      await Promise.all([
        woken,
        changed,
        mutex.runExclusive(async () => turn, signal),
        raceAbort(Promise.resolve(turn), signal),
        withDeadline("work", 1_000, signal, async () => turn),
        withTimeout(1_000, systemClock, signal, async () => turn),
        pause(0, systemClock, signal),
      ]);
      expect(listeners(signal)).toBe(1);
    }
  });
});
