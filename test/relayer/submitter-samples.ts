import { Registry as MetricsRegistry } from "prom-client";
import { createManualClock } from "../support/manual-clock.ts";
import { parseDec18 } from "../../src/platform/base/decimal.ts";
import { silentLogger } from "../../src/platform/base/logger.ts";
import type { FinalTx, TxDraft } from "../../src/cosmos/client/tx/tx-types.ts";
import { createRelayerMetrics } from "../../src/relayer/result/relayer-metrics.ts";
import type { QueryState } from "../../src/relayer/registry/query-state.ts";
import type { Attempt } from "../../src/relayer/state/attempt.ts";
import type { Entry, Stage } from "../../src/relayer/submit/pipeline.ts";
import type { ProvenResult } from "../../src/relayer/result/proven-result.ts";
import { sampleOutcomes } from "./samples.ts";
import {
  createSubmitterState,
  type SubmitterDeps,
  type SubmitterState,
} from "../../src/relayer/submit/submitter-state.ts";
import { createUrgency } from "../../src/relayer/gas-budget/urgency.ts";
import { createMarket } from "../../src/relayer/gas-budget/create-market.ts";
import { createHeightSignal } from "../../src/relayer/registry/registry.ts";

/** The state of a submitter whose surroundings the test controls. */
export interface SampleSubmitter {
  readonly state: SubmitterState;
  readonly clock: ReturnType<typeof createManualClock>;
  /** Added to the wall clock. */
  jumpMs: number;
  /** The registry, by query id. */
  readonly queries: Map<bigint, QueryState>;
  /** Drafts of each broadcast. All are accepted. */
  readonly broadcasts: (readonly TxDraft[])[];
  /** Local heights of the look-ups of what is in flight, and what they find. */
  readonly lookUps: bigint[];
  finals: readonly FinalTx[];
  /** Thrown by broadcasts while it is set. */
  broadcastError: Error | undefined;
  /** Transactions that the gate admitted, and those that it was told to cost nothing. */
  admitted: number;
  released: number;
  /** What was reported about the account: "accepted", or why it cannot pay. */
  readonly funds: string[];
  readonly attempts: Attempt[];
  /** The outcomes that sample results have received since this submitter was created. */
  readonly outcomes: typeof sampleOutcomes;
  /** Ids of each read of the registry. It throws when this is an error. */
  readonly rereads: (readonly bigint[])[];
  rereadError: Error | undefined;
  /** Resets the local chain, as the registry sees it. */
  readonly reset: () => void;
  /** Number of times that the window was told of a reset. */
  windowResets: number;
}

/** Creates one at the local height 100, with a block of 30,000,000 gas of which it may use nine tenths. */
export function sampleSubmitter(connections = 1, more: Partial<SubmitterDeps> = {}): SampleSubmitter {
  const earlier = sampleOutcomes.length;
  let nextReset = new AbortController();
  const manual = createManualClock(1_000_000);
  const clock = { ...manual, nowMs: () => manual.nowMs() + sample.jumpMs };
  const height = createHeightSignal(clock, () => {});
  height.set(100n, 0n);
  const state = createSubmitterState(
    {
      submitTypeUrl: "/x.MsgSubmitQueryResult",
      gasAdjustmentPermille: 1_300n,
      limits: { gas: 15_000_000n, bytes: 400_000, results: 300 },
      blockSharePermille: 900n,
      gasPrice: { denom: "untrn", multiplier: parseDec18("1.1"), cap: parseDec18("1") },
      connections,
    },
    {
      window: {
        address: "neutron1relayer",
        simulate: async () => ({ ok: true, gasUsed: 200_000n }),
        gasPrice: async () => parseDec18("0.01"),
        isOpen: () => true,
        broadcast: async (drafts) => {
          if (sample.broadcastError !== undefined) throw sample.broadcastError;
          sample.broadcasts.push(drafts);
          return drafts.map(({ gasLimit }, index) => ({
            kind: "in-flight",
            tx: {
              hash: Uint8Array.of(index),
              sequence: BigInt(index),
              size: 100,
              gasLimit,
              feeAmount: gasLimit / 100n,
            },
          }));
        },
        confirm: async (at) => {
          sample.lookUps.push(at);
          return sample.finals;
        },
        inFlight: () => [],
        reset: () => void (sample.windowResets += 1),
      },
      gate: {
        admit: async () => {
          sample.admitted += 1;
          return { admitted: true, release: () => void (sample.released += 1) };
        },
      },
      funds: {
        recordAccepted: () => void sample.funds.push("accepted"),
        recordUnpaid: (reason) => void sample.funds.push(reason),
      },
      attempts: { note: (attempts) => void sample.attempts.push(...attempts) },
      registry: {
        state: (id) => sample.queries.get(id),
        states: () => [...sample.queries.values()],
        reread: async (ids) => {
          sample.rereads.push(ids);
          if (sample.rereadError !== undefined) throw sample.rereadError;
        },
        resetSignal: () => nextReset.signal,
      },
      height,
      market: createMarket({ ceiling: undefined, cap: parseDec18("1"), denom: "untrn" }, clock),
      urgency: createUrgency([], parseDec18("1")),
      readMarketState: async () => {
        throw new Error("this chain has no fee market");
      },
      readBlockLimits: async () => ({ utilization: 30_000_000n, gas: undefined, bytes: undefined }),
      clock,
      random: () => 0,
      logger: silentLogger,
      metrics: createRelayerMetrics(new MetricsRegistry(), []),
      ...more,
    },
  );
  state.block.setLimits({ utilization: 30_000_000n, gas: undefined, bytes: undefined });
  const sample: SampleSubmitter = {
    state,
    clock: manual,
    jumpMs: 0,
    queries: new Map(),
    broadcasts: [],
    lookUps: [],
    finals: [],
    broadcastError: undefined,
    admitted: 0,
    released: 0,
    funds: [],
    attempts: [],
    get outcomes() {
      return sampleOutcomes.slice(earlier);
    },
    rereads: [],
    rereadError: undefined,
    reset: () => {
      const current = nextReset;
      nextReset = new AbortController();
      current.abort();
    },
    windowResets: 0,
  };
  return sample;
}

/** Adds a result, and moves it to a stage of the pipeline. `gas` is what it is expected to use once it is sent. */
export function place(
  { state, clock }: SampleSubmitter,
  result: ProvenResult,
  kind: Exclude<Stage["kind"], "expected" | "resolved">,
  {
    gas = 30_000n,
    sentAt = state.deps.height.now(),
  }: { readonly gas?: bigint; readonly sentAt?: bigint } = {},
): Entry {
  const { pipeline } = state;
  const { entry } = pipeline.queue(result, clock.monotonicMs());
  if (kind !== "queued") pipeline.apply([entry], { kind: "plan" });
  if (kind === "broadcasting" || kind === "in-flight")
    pipeline.apply([entry], { kind: "broadcast", sentAt, gas });
  if (kind === "in-flight") pipeline.apply([entry], { kind: "accept" });
  return entry;
}
