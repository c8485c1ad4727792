import { describe, expect, it } from "vitest";
import { silentLogger } from "../../src/platform/base/logger.ts";
import {
  runServiceNotifier,
  serviceManagerOf,
  type ServiceState,
  withServiceManager,
} from "../../src/platform/process/service-manager.ts";
import { createManualClock } from "../support/manual-clock.ts";

const WATCHDOG_MS = 40_000;

function rig() {
  const clock = createManualClock(0);
  const end = new AbortController();
  const sent: (readonly string[])[] = [];
  const logged: string[] = [];
  const note = (message: string): void => void logged.push(message);
  const logger = { ...silentLogger, error: note, info: note };
  let fails = false;
  const manager = {
    watchdogMs: WATCHDOG_MS,
    send: async (assignments: readonly string[]) => {
      if (fails) throw new Error("spawn systemd-notify ENOENT");
      sent.push(assignments);
    },
  };
  let state: ServiceState = { isStarted: false, isAlive: true, text: "starts" };
  return {
    clock,
    end,
    sent,
    logged,
    manager,
    logger,
    state: () => state,
    set: (next: Partial<ServiceState>) => {
      state = { ...state, ...next };
    },
    fail: (next: boolean) => {
      fails = next;
    },
    /** What was sent since the last call. */
    taken: () => sent.splice(0),
  };
}

describe("runServiceNotifier", () => {
  it("extends the start while it makes progress, says ready once, and then sends signs of life", async () => {
    const { clock, end, manager, logger, state, set, taken } = rig();
    const running = runServiceNotifier(manager, state, { clock, logger }, end.signal).catch(() => {});
    await clock.advance(0);
    expect(taken()).toEqual([["EXTEND_TIMEOUT_USEC=120000000", "STATUS=starts"]]);
    set({ isStarted: true, text: "no problem" });
    await clock.advance(500);
    expect(taken()).toEqual([["READY=1", "WATCHDOG=1", "STATUS=no problem"]]);
    await clock.advance(9_500);
    expect(taken()).toEqual([]);
    await clock.advance(500);
    expect(taken()).toEqual([["WATCHDOG=1", "STATUS=no problem"]]);
    // A chain that is down later does not undo the start.
    set({ isStarted: false, text: "local-not-followed: x\ny" });
    await clock.advance(2_000);
    expect(taken()).toEqual([["WATCHDOG=1", "STATUS=local-not-followed: x; y"]]);
    end.abort(new Error("over"));
    await running;
  });

  it("sends no sign of life while nothing makes progress, before and after the start", async () => {
    const { clock, end, manager, logger, state, set, taken } = rig();
    set({ isAlive: false });
    const running = runServiceNotifier(manager, state, { clock, logger }, end.signal).catch(() => {});
    await clock.advance(0);
    expect(taken()).toEqual([["STATUS=starts"]]);
    set({ isAlive: true, isStarted: true });
    await clock.advance(500);
    set({ isAlive: false });
    taken();
    await clock.advance(WATCHDOG_MS);
    expect(taken().flat()).not.toContain("WATCHDOG=1");
    end.abort(new Error("over"));
    await running;
  });

  it("logs once that it cannot notify, and says ready when it can", async () => {
    const { clock, end, manager, logger, logged, state, set, fail, taken } = rig();
    fail(true);
    set({ isStarted: true });
    const running = runServiceNotifier(manager, state, { clock, logger }, end.signal).catch(() => {});
    await clock.advance(0);
    await clock.advance(WATCHDOG_MS);
    expect(logged).toEqual(["the service manager cannot be notified"]);
    fail(false);
    await clock.advance(500);
    expect(taken()[0]).toContain("READY=1");
    expect(logged).toEqual([
      "the service manager cannot be notified",
      "the service manager is notified again",
    ]);
    end.abort(new Error("over"));
    await running;
  });
});

describe("withServiceManager", () => {
  it("only runs the work without a manager, and passes its error on with one", async () => {
    const { clock, manager, logger, state } = rig();
    const context = { clock, logger, signal: new AbortController().signal };
    const work = async (): Promise<void> => {
      throw new Error("no port");
    };
    await expect(withServiceManager(undefined, state, context, work)).rejects.toThrow("no port");
    await expect(withServiceManager(manager, state, context, work)).rejects.toThrow("no port");
  });

  it("says that the process stops", async () => {
    const { clock, manager, logger, state, taken } = rig();
    const stop = new AbortController();
    const context = { clock, logger, signal: stop.signal };
    await withServiceManager(manager, state, context, async () => stop.abort(new Error("SIGTERM")));
    expect(taken().flat()).toContain("STOPPING=1");
  });
});

describe("serviceManagerOf", () => {
  it("is absent without a socket, and has no watchdog of another process", () => {
    expect(serviceManagerOf({}, 7)).toBeUndefined();
    expect(serviceManagerOf({ NOTIFY_SOCKET: "" }, 7)).toBeUndefined();
    const socket = { NOTIFY_SOCKET: "/run/systemd/notify", WATCHDOG_USEC: "30000000" };
    expect(serviceManagerOf(socket, 7)?.watchdogMs).toBe(30_000);
    expect(serviceManagerOf({ ...socket, WATCHDOG_PID: "7" }, 7)?.watchdogMs).toBe(30_000);
    expect(serviceManagerOf({ ...socket, WATCHDOG_PID: "8" }, 7)?.watchdogMs).toBeUndefined();
  });
});
