import { describe, expect, it } from "vitest";
import type { SimulationOutcome } from "../../src/cosmos/client/tx/tx-types.ts";
import { MsgSubmitQueryResult } from "../../src/cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { simulateCallback } from "../../src/relayer/preview/preview-results.ts";

const RESULT = MsgSubmitQueryResult.encode({
  queryId: 1n,
  sender: "",
  clientId: "",
  result: { kvResults: [], block: undefined, height: 1n, revision: 1n, allowKvCallbacks: true },
}).finish();
const CALLBACK = 77_000n;

/** Each simulation costs the next of `others`, and the callback when the result asks for it. */
function chain(others: readonly (bigint | undefined)[]) {
  const asked: boolean[] = [];
  const simulate = (message: Uint8Array): Promise<SimulationOutcome> => {
    const isCalled = MsgSubmitQueryResult.decode(message).result?.allowKvCallbacks === true;
    const other = others[asked.push(isCalled) - 1];
    return Promise.resolve(
      other === undefined
        ? { ok: false, code: 5, codespace: "sdk", log: "refused", failedMessage: undefined }
        : { ok: true, gasUsed: other + (isCalled ? CALLBACK : 0n) },
    );
  };
  const callback = async (): Promise<bigint | undefined> => {
    const first = await simulate(RESULT);
    return first.ok ? simulateCallback(simulate, RESULT, first.gasUsed) : undefined;
  };
  return { callback, asked };
}

describe("a callback's gas by simulation", () => {
  it("is the difference between a result with the callback and one without", async () => {
    const { callback, asked } = chain([100_000n, 100_000n, 100_000n]);
    expect(await callback()).toBe(CALLBACK);
    expect(asked).toEqual([true, false, true]);
  });

  it.each([
    ["before the result without it", [130_000n, 100_000n, 100_000n]],
    ["after it", [130_000n, 130_000n, 100_000n]],
  ])("leaves out a client update that somebody else sends %s", async (_, first) => {
    expect(await chain([...first, 100_000n, 100_000n]).callback()).toBe(CALLBACK);
  });

  it("ends as soon as two results around another agree", async () => {
    const { callback, asked } = chain([130_000n, 100_000n, 100_000n, 100_000n]);
    expect(await callback()).toBe(CALLBACK);
    expect(asked).toEqual([true, false, true, false]);
  });

  it("is unknown while the chain changes at each try, and when a simulation is refused", async () => {
    const changing = chain([1n, 2n, 3n, 4n, 5n, 6n, 7n].map((step) => step * 10_000n));
    expect(await changing.callback()).toBeUndefined();
    expect(changing.asked).toHaveLength(7);
    for (const refused of [0, 1, 2]) {
      const others = [0, 1, 2].map((index) => (index === refused ? undefined : 100_000n));
      expect(await chain(others).callback()).toBeUndefined();
    }
  });
});
