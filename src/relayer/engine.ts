import type { ChainClient } from "../cosmos/client/chain-client.ts";
import type { ChainSubscription } from "../cosmos/client/events/subscription.ts";
import type { TxWindow } from "../cosmos/client/tx/tx-types.ts";
import type { Clock } from "../platform/base/clock.ts";
import type { Logger } from "../platform/base/logger.ts";
import type { Service } from "../platform/base/service.ts";
import type { RelayerMetrics } from "./result/relayer-metrics.ts";
import type { LocalQueries } from "./chain/local-queries.ts";
import type { PaymentSink } from "./result/paid-transaction.ts";
import { createClientOfConnection } from "./connection/connection-view.ts";
import { type ConnectionWorker, createSubmissionHealth } from "./connection/worker.ts";
import { followChain, type FollowDeps } from "./registry/follow-chain.ts";
import { createListWatch, type ListView } from "./watch/head-watch.ts";
import type { Market } from "./gas-budget/create-market.ts";
import type { Urgency } from "./gas-budget/urgency.ts";
import type { HeightSignal } from "./registry/height-signal.ts";
import type { Registry } from "./registry/registry.ts";
import type { AttemptSink } from "./state/attempt.ts";
import type { FundsWatch, SubmitGate, Upkeep } from "./result/submit-gate.ts";
import type { SubmitterOptions } from "./submit/submitter-state.ts";
import { createSubmitter, type Submitter, type SubmitterStatus } from "./submit/submitter.ts";
import type { TxDeps } from "./tx/tx-relay.ts";
import { runWorker } from "./worker-loop.ts";

/** A worker without the parts that change during its cycles. The engine adds those parts. */
type WorkerParts = Omit<
  ConnectionWorker,
  "localHeight" | "client" | "submission" | "submitter" | "attempts" | "urgency"
>;

export interface EngineDeps {
  readonly chainName: string;
  readonly local: Pick<ChainClient, "status">;
  readonly subscription: ChainSubscription;
  readonly registry: Registry;
  readonly workers: readonly WorkerParts[];
  readonly height: HeightSignal;
  readonly tx: TxDeps;
  readonly window: TxWindow;
  readonly submission: Omit<SubmitterOptions, "connections">;
  readonly readBlockLimits: LocalQueries["blockLimits"];
  readonly readMarketState: LocalQueries["marketState"];
  readonly market: Market;
  readonly urgency: Urgency;
  readonly attempts: AttemptSink;
  /** Receives each transaction that paid a fee. */
  readonly payments?: PaymentSink;
  /** Interval between regular reloads of the query list. */
  readonly reloadMs: () => number;
  /** Detects a reset of the local chain (`src/relayer/state/history.ts`). */
  readonly checkHistory: FollowDeps["checkHistory"];
  readonly gate: SubmitGate;
  readonly funds: FundsWatch;
  readonly upkeep?: Upkeep;
  /** Returns true if this process submits. If it does not, the workers pause and everything else continues. */
  readonly leads: () => boolean;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: RelayerMetrics;
}

export interface Engine {
  readonly services: readonly Service[];
  readonly localHeight: () => bigint;
  readonly list: () => ListView;
  /** The error of each connection's last cycle; undefined if the cycle succeeded. */
  readonly workerErrors: () => ReadonlyMap<string, string | undefined>;
  readonly submitter: () => SubmitterStatus;
  readonly beginTerm: Submitter["beginTerm"];
  /** A query's learned gas per result. */
  readonly gasOf: Submitter["gasOf"];
}

const TYPES = ["kv", "tx"] as const;

/**
 * Creates the loops: one follows the local chain, two workers per connection serve KV and TX queries, and a submitter uses the
 * account. A slow remote chain delays only its own connection. A slow search does not delay KV values.
 */
export function createEngine(deps: EngineDeps): Engine {
  const errors = new Map<string, string | undefined>();
  const loops = deps.workers.flatMap((parts) =>
    TYPES.map((type) => ({ parts, type, name: nameOf(parts, type) })),
  );
  const submitter = createSubmitter({ ...deps.submission, connections: deps.workers.length }, deps);
  const { view: list, ...listEvents } = createListWatch(deps.clock);
  return {
    services: [
      { name: "local chain subscription", run: (signal) => deps.subscription.run(signal) },
      {
        name: "query registry",
        run: (signal) => followChain({ ...deps, ...listEvents }, signal),
      },
      { name: "submitter", run: submitter.run },
      ...loops.map(({ parts, type, name }) => ({
        name,
        run: (signal: AbortSignal) =>
          runWorker(
            // Each worker gets its own health and client id, so that two workers share no mutable state.
            toWorker(parts, submitter, deps),
            {
              height: deps.height,
              leads: deps.leads,
              tx: deps.tx,
              type,
              onCycle: (error) => errors.set(name, error),
            },
            signal,
          ),
      })),
    ],
    localHeight: deps.height.now,
    list,
    submitter: submitter.status,
    beginTerm: submitter.beginTerm,
    gasOf: submitter.gasOf,
    workerErrors: () =>
      new Map(
        deps.workers.map((parts) => [
          parts.connectionId,
          TYPES.map((type) => errors.get(nameOf(parts, type))).find((error) => error !== undefined),
        ]),
      ),
  };
}

function nameOf({ connectionId }: WorkerParts, type: (typeof TYPES)[number]): string {
  return `${type} worker of ${connectionId}`;
}

function toWorker(
  parts: WorkerParts,
  submitter: Submitter,
  { height, attempts, urgency }: EngineDeps,
): ConnectionWorker {
  return {
    ...parts,
    submitter,
    attempts,
    urgency,
    localHeight: height.now,
    client: createClientOfConnection(parts.local, parts.connectionId),
    submission: createSubmissionHealth(),
  };
}
