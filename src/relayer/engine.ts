import { createClientOfConnection } from "./connection/connection-view.ts";
import { type ConnectionWorker, createSubmissionHealth } from "./connection/worker.ts";
import { followChain, type FollowDeps } from "./registry/follow-chain.ts";
import { createListWatch } from "./watch/head-watch.ts";
import { createSubmitterState, type SubmitterDeps, type SubmitterOptions } from "./submit/submitter-state.ts";
import { type Submitter, submitterOf } from "./submit/submitter.ts";
import type { TxDeps } from "./tx/tx-relay.ts";
import { submitTypeUrl } from "./result/proven-result.ts";
import { runWorker } from "./worker-loop.ts";
import { truncateDec18 } from "../platform/base/decimal.ts";
import { gasPricePolicy } from "./chain-access.ts";
import type { RelayerConfig } from "./config/relayer-config.ts";

/** A worker without the parts that change during its cycles. The engine adds the missing parts. */
type WorkerParts = Omit<
  ConnectionWorker,
  "localHeight" | "client" | "submission" | "submitter" | "attempts" | "urgency"
>;

type EngineDeps = Omit<FollowDeps, "onLoaded" | "onLocalError"> &
  SubmitterDeps & {
    readonly workers: readonly WorkerParts[];
    readonly tx: TxDeps;
    readonly submission: Omit<SubmitterOptions, "connections">;
    /** Returns true if this process submits. If it does not, the workers pause and everything else continues. */
    readonly leads: () => boolean;
  };

const TYPES = ["kv", "tx"] as const;

/**
 * Creates the loops: one follows the local chain, two workers per connection serve KV and TX queries, and a submitter uses the
 * account. A slow remote chain delays only its own connection. A slow search does not delay KV values.
 */
export function createEngine(deps: EngineDeps) {
  const errors = new Map<string, string | undefined>();
  const loops = deps.workers.flatMap((parts) =>
    TYPES.map((type) => ({ parts, type, name: nameOf(parts, type) })),
  );
  const options = { ...deps.submission, connections: deps.workers.length };
  const submitter = submitterOf(createSubmitterState(options, deps));
  const { view: list, ...listEvents } = createListWatch(deps.clock);
  return {
    services: [
      { name: "local chain subscription", run: (signal: AbortSignal) => deps.subscription.run(signal) },
      {
        name: "query registry",
        run: (signal: AbortSignal) => followChain({ ...deps, ...listEvents }, signal),
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
    /** A query's learned gas per result. */
    gasOf: submitter.gasOf,
    /** The error of each connection's last cycle; undefined if the cycle succeeded. */
    workerErrors: (): ReadonlyMap<string, string | undefined> =>
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

export function submitterOptions(config: RelayerConfig): EngineDeps["submission"] {
  const { gas, batch } = config;
  return {
    submitTypeUrl: submitTypeUrl(config),
    gasAdjustmentPermille: truncateDec18(gas.adjustment * 1_000n),
    limits: batch,
    gasPrice: gasPricePolicy(gas),
    blockSharePermille: truncateDec18(batch.block_share * 1_000n),
  };
}
