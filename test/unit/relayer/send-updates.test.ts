import { Registry as MetricsRegistry } from "prom-client";
import { describe, expect, it } from "vitest";
import { parseDec18 } from "../../../src/base/decimal.ts";
import type { SimulationOutcome } from "../../../src/client/tx/tx-sender.ts";
import type { FlightTx, TxDraft } from "../../../src/client/tx/tx-window.ts";
import { createRelayerMetrics } from "../../../src/relayer/api/metrics.ts";
import { sendUpdates } from "../../../src/relayer/connection/send-updates.ts";
import { createHeightSignal } from "../../../src/relayer/registry/height-signal.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const signal = new AbortController().signal;
const updates = [60, 50, 40, 100, 10].map((bytes) => ({ typeUrl: "/u", value: new Uint8Array(bytes) }));

/** An account whose transactions are in a block when they are looked up. `sizes` are the messages of each. */
function setUp(simulation: SimulationOutcome = { ok: true, gasUsed: 1_000n }, isLost = false) {
  const clock = createManualClock(0);
  const sent: TxDraft[] = [];
  let released = 0;
  let flying: readonly FlightTx[] = [];
  const metrics = createRelayerMetrics(new MetricsRegistry(), ["connection-0"]);
  const deps = {
    window: {
      address: "neutron1relayer",
      simulate: async () => simulation,
      gasPrice: async () => parseDec18("0.01"),
      isOpen: () => true,
      broadcast: async (drafts: readonly TxDraft[]) => {
        sent.push(...drafts);
        return drafts.map(({ gasLimit }) => {
          const tx = { hash: new Uint8Array(), sequence: 1n, size: 1, gasLimit, feeAmount: 13n };
          flying = [tx];
          return { kind: "in-flight", tx } as const;
        });
      },
      settle: async () =>
        flying.map((tx) => ({
          tx,
          confirmation: isLost
            ? ({ kind: "lost", reason: "gone" } as const)
            : ({
                kind: "included",
                height: BigInt(sent.length),
                gasUsed: 900n,
                gasWanted: 1_300n,
                data: new Uint8Array(),
              } as const),
        })),
      inFlight: () => [],
    },
    gate: { admit: async () => ({ admitted: true, release: () => void (released += 1) }) as const },
    height: createHeightSignal(clock, () => {}),
    metrics,
    clock,
    maxTxBytes: 100,
  };
  const send = () => sendUpdates(deps, { connectionId: "connection-0", updates }, signal);
  return { send, sent, metrics, released: () => released };
}

describe("sendUpdates", () => {
  it("packs the updates in order into transactions of at most so many bytes, and counts what they cost", async () => {
    const { send, sent, metrics, released } = setUp();
    expect(await send()).toBe(4n);
    const sizes = sent.map(({ messages }) => messages.map(({ value }) => value.length));
    expect(sizes).toEqual([[60], [50, 40], [100], [10]]);
    expect(sent[0]?.gasLimit).toBe(1_300n);
    expect((await metrics.clientUpdates.get()).values).toMatchObject([{ value: 5 }]);
    expect((await metrics.fees.get()).values).toMatchObject([{ value: 52 }]);
    expect((await metrics.gasUsed.get()).values).toMatchObject([{ value: 3_600 }]);
    expect(released()).toBe(0);
  });

  it("sends nothing more after one that is refused", async () => {
    const { send, sent } = setUp({
      ok: false,
      codespace: "client",
      code: 7,
      log: "no consensus state",
      failedMessage: 0,
    });
    await expect(send()).rejects.toThrow("the client update was refused: no consensus state");
    expect(sent).toEqual([]);
  });

  it("gives back what a lost transaction was allowed to cost, and sends nothing more", async () => {
    const { send, sent, metrics, released } = setUp(undefined, true);
    await expect(send()).rejects.toThrow("the client update ended as lost");
    expect([sent.length, released()]).toEqual([1, 1]);
    expect((await metrics.fees.get()).values).toMatchObject([{ value: 0 }]);
  });
});
