import { describe, expect, it } from "vitest";
import {
  createBetterFinder,
  createRoutePicker,
} from "../../../src/cosmos/client/events/websocket-subscription.ts";
import { createManualClock } from "../../support/manual-clock.ts";

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
  it("ends when one other endpoint has been the best one for the whole time", async () => {
    const clock = createManualClock(0);
    let order = ["b"];
    const findBetter = createBetterFinder("a", { order: () => order, moveAfterMs: 20_000, clock });
    const betterAfter = async (ms: number): Promise<string | undefined> => {
      await clock.advance(ms);
      return findBetter();
    };
    expect(await betterAfter(0)).toBeUndefined();
    expect(await betterAfter(19_000)).toBeUndefined();
    // The best one changes: the time begins again.
    order = ["c"];
    expect(await betterAfter(5_000)).toBeUndefined();
    order = ["a"];
    expect(await betterAfter(60_000)).toBeUndefined();
    order = ["b"];
    expect(await betterAfter(10_000)).toBeUndefined();
    expect(await betterAfter(19_000)).toBeUndefined();
    expect(await betterAfter(1_000)).toBe("b");
    expect(await betterAfter(0)).toBe("b");
  });

  it("stays where it is without an order", async () => {
    const clock = createManualClock(0);
    const findBetter = createBetterFinder("a", { order: undefined, moveAfterMs: 10, clock });
    expect(findBetter()).toBeUndefined();
    await clock.advance(60_000);
    expect(findBetter()).toBeUndefined();
  });
});
