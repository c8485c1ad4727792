import { describe, expect, it } from "vitest";
import { untilAborted } from "../../../src/platform/base/abort.ts";
import {
  BetterEndpointError,
  createRoutePicker,
  whileBest,
} from "../../../src/cosmos/client/events/websocket-subscription.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const SIGNAL = new AbortController().signal;
const routes = ["a", "b", "c"].map((name) => ({ name }));

describe("the routes of an event stream", () => {
  it("are tried by the present order, each once in a round", () => {
    let order: readonly string[] = ["c", "a"];
    const picker = createRoutePicker(routes, () => order);
    const take = (): string | undefined => picker.next()?.name;
    expect([take(), take(), take()]).toEqual(["c", "a", "b"]);
    expect(take()).toBe("c");
    order = ["b", "c", "a"];
    picker.restart();
    expect([take(), take(), take()]).toEqual(["b", "c", "a"]);
    expect(createRoutePicker(routes, undefined).next()?.name).toBe("a");
    expect(createRoutePicker([], undefined).next()).toBeUndefined();
  });
});

describe("a session", () => {
  const session = async (signal: AbortSignal): Promise<never> => {
    await untilAborted(signal);
    throw new Error("ended");
  };

  it("ends when one other endpoint has been the best one for the whole time", async () => {
    const clock = createManualClock(0);
    let order = ["b"];
    let ended: unknown;
    const running = whileBest("a", session, { order: () => order, moveAfterMs: 20_000, clock }, SIGNAL).catch(
      (error: unknown) => {
        ended = error;
      },
    );
    await clock.advance(20_000);
    expect(ended).toBeUndefined();
    // The best one changes: the time begins again.
    order = ["c"];
    await clock.advance(5_000);
    order = ["a"];
    await clock.advance(60_000);
    order = ["b"];
    await clock.advance(24_000);
    expect(ended).toBeUndefined();
    await clock.advance(6_000);
    await running;
    expect(ended).toBeInstanceOf(BetterEndpointError);
    expect(ended).toMatchObject({ better: "b" });
  });

  it("ends with its own error, and without an order only with that", async () => {
    const clock = createManualClock(0);
    const broken = (): Promise<never> => Promise.reject(new Error("broken"));
    const deps = { moveAfterMs: 10, clock };
    await expect(whileBest("a", broken, { ...deps, order: () => ["b"] }, SIGNAL)).rejects.toThrow("broken");
    await expect(whileBest("a", broken, { ...deps, order: undefined }, SIGNAL)).rejects.toThrow("broken");
    expect(clock.sleeping()).toBe(0);
  });
});
