import { describe, expect, it } from "vitest";
import {
  BetterEndpointError,
  createBestCheck,
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
    const check = createBestCheck("a", { order: () => order, moveAfterMs: 20_000, clock });
    const checkedAfter = async (ms: number): Promise<void> => {
      await clock.advance(ms);
      check();
    };
    await checkedAfter(0);
    await checkedAfter(19_000);
    // The best one changes: the time begins again.
    order = ["c"];
    await checkedAfter(5_000);
    order = ["a"];
    await checkedAfter(60_000);
    order = ["b"];
    await checkedAfter(10_000);
    await checkedAfter(19_000);
    await expect(checkedAfter(1_000)).rejects.toThrow(BetterEndpointError);
    await expect(checkedAfter(0)).rejects.toMatchObject({ better: "b" });
  });

  it("stays where it is without an order", async () => {
    const clock = createManualClock(0);
    const check = createBestCheck("a", { order: undefined, moveAfterMs: 10, clock });
    check();
    await clock.advance(60_000);
    expect(check).not.toThrow();
  });
});
