import { Registry as MetricsRegistry } from "prom-client";
import { parseDec18 } from "../../src/platform/base/decimal.ts";
import type {
  SimulationOutcome,
  BroadcastResult,
  FinalTx,
  FlightTx,
  TxDraft,
} from "../../src/cosmos/client/tx/tx-types.ts";
import { createRelayerMetrics } from "../../src/relayer/result/relayer-metrics.ts";
import type { Admission } from "../../src/relayer/result/submit-gate.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { createHeightSignal } from "../../src/relayer/registry/registry.ts";

/** Client updates with these many bytes. */
export const updates = [60, 50, 50, 100, 10].map((bytes) => ({
  typeUrl: "/u",
  value: new Uint8Array(bytes),
}));

type Confirmation = FinalTx["confirmation"];

/** A refused simulation. */
export const refusal: SimulationOutcome = {
  ok: false,
  codespace: "client",
  code: 7,
  log: "no consensus state",
  failedMessage: 0,
};
/** Final states of a transaction. */
const included = (height: bigint): Confirmation => ({
  kind: "included",
  height,
  gasUsed: 900n,
  gasWanted: 1_300n,
  data: new Uint8Array(),
});
export const failed: Confirmation = {
  kind: "failed",
  height: 1n,
  code: 7,
  codespace: "client",
  log: "expired",
  gasUsed: 900n,
};

/** What the account and the gate do. */
interface Scene {
  readonly simulation: SimulationOutcome;
  readonly admission: Admission;
  readonly broadcast: (drafts: readonly TxDraft[]) => BroadcastResult | undefined;
  /** What becomes of a transaction at its look-up; `sent` is the number of those before it and itself. */
  readonly ending: (sent: number) => Confirmation | "none";
}

/** An account whose transactions are in a block when they are looked up. `sent` are the drafts. */
export function sampleAccount(given: Partial<Scene> = {}) {
  const clock = createManualClock(0);
  const sent: TxDraft[] = [];
  const funds: string[] = [];
  let [released, lookUps] = [0, 0];
  const transaction = (gasLimit: bigint): FlightTx => ({
    hash: new Uint8Array(),
    sequence: 1n,
    size: 1,
    gasLimit,
    feeAmount: 13n,
  });
  let flying = transaction(0n);
  const scene: Scene = {
    simulation: { ok: true, gasUsed: 1_000n },
    admission: { admitted: true, release: () => void (released += 1) },
    broadcast: () => ({ kind: "in-flight", tx: flying }),
    ending: (count) => included(BigInt(count)),
    ...given,
  };
  const metrics = createRelayerMetrics(new MetricsRegistry(), ["connection-0"]);
  const deps = {
    window: {
      address: "neutron1relayer",
      simulate: async () => scene.simulation,
      gasPrice: async () => parseDec18("0.01"),
      isOpen: () => true,
      broadcast: async (drafts: readonly TxDraft[]) => {
        sent.push(...drafts);
        flying = transaction(drafts[0]?.gasLimit ?? 0n);
        return [scene.broadcast(drafts)].flatMap((result) => result ?? []);
      },
      confirm: async () => {
        lookUps += 1;
        const confirmation = scene.ending(sent.length);
        // One that the submitter sent before, and was not looked up then.
        const other = { tx: transaction(0n), confirmation: failed };
        return confirmation === "none" ? [other] : [other, { tx: flying, confirmation }];
      },
      inFlight: () => [],
      reset: () => {},
    },
    gate: { admit: async () => scene.admission },
    funds: {
      recordAccepted: () => void funds.push("accepted"),
      recordUnpaid: (reason: string) => void funds.push(reason),
    },
    height: createHeightSignal(clock, () => {}),
    metrics,
    clock,
    maxTxBytes: 100,
  };
  return { deps, sent, funds, metrics, clock, released: () => released, lookUps: () => lookUps };
}
