import { describe, expect, it } from "vitest";
import { createGasMeter, InterruptedError, interruptMeter } from "../../../src/localnet/chain/runtime/gas.ts";
import { createDeadline } from "../../../src/localnet/node/base/deadline.ts";

describe("a deadline of processor time", () => {
  const after = (passedMs: number, cpuMs: number): (() => void) => {
    let time = { monotonicMs: 1_000, cpuMs: 70 };
    const deps = { monotonicMs: () => time.monotonicMs, cpuMs: () => time.cpuMs };
    const deadline = createDeadline(500, deps);
    time = { monotonicMs: 1_000 + passedMs, cpuMs: 70 + cpuMs };
    return deadline;
  };

  it("ends work that has used it, and says how to change it", () => {
    expect(after(500, 500)).toThrow(InterruptedError);
    expect(after(500, 500)).toThrow(
      "the node ended this request after 500 ms of processor time, the limit for queries and simulations (query_time in the chain file)",
    );
  });

  it("does not count the time in which other programs ran", () => expect(after(60_000, 499)).not.toThrow());

  it("does not count the processor time of other threads beyond the time that passed", () =>
    expect(after(499, 900)).not.toThrow());
});

it("a meter that can be interrupted asks before it counts, for each kind of consumption", () => {
  for (const kind of ["consume", "charge"] as const) {
    const meter = createGasMeter();
    let isOver = false;
    const { consume, charge, used } = interruptMeter(meter, () => {
      if (isOver) throw new InterruptedError("over");
    });
    const use = (): void => (kind === "consume" ? consume(5n, "ReadFlat") : charge(5, "ReadFlat"));
    use();
    isOver = true;
    expect(use).toThrow(InterruptedError);
    expect([used(), meter.used()]).toEqual([5n, 5n]);
  }
});
