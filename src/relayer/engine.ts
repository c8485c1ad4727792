import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Service } from "../base/service.ts";
import type { ChainClient } from "../client/chain-client.ts";
import type { ChainSubscription } from "../client/subscription.ts";
import { createBatchBudget } from "./batch-budget.ts";
import { createClientOfConnection } from "./connection-view.ts";
import { followChain } from "./follow-chain.ts";
import type { HeightSignal } from "./height-signal.ts";
import type { Lane } from "./lane.ts";
import { runLane } from "./lane-loop.ts";
import type { RelayerMetrics } from "./metrics.ts";
import type { Registry } from "./registry.ts";
import type { TxDeps } from "./tx-relay.ts";

/** A connection as it is configured; the engine adds what its rounds learn. */
export type LaneParts = Omit<Lane, "localHeight" | "client" | "budget">;

/** What the engine's parts share: the local chain as it was last seen. */
export interface EngineDeps {
  readonly chainName: string;
  readonly local: Pick<ChainClient, "status">;
  readonly subscription: ChainSubscription;
  readonly registry: Registry;
  readonly lanes: readonly LaneParts[];
  readonly height: HeightSignal;
  readonly tx: TxDeps;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: RelayerMetrics;
}

/** How the engine stands, for the API and tests. */
export interface Engine {
  readonly services: readonly Service[];
  readonly localHeight: () => bigint;
  /** Whether the list of queries was read at least once. */
  readonly isLoaded: () => boolean;
  /** The last fault of each connection's rounds, undefined after a good round. */
  readonly laneFaults: () => ReadonlyMap<string, string | undefined>;
}

/** Builds the loops: one that follows the local chain, one for each connection. A slow remote chain delays only its own. */
export function createEngine(deps: EngineDeps): Engine {
  const { height } = deps;
  const faults = new Map<string, string | undefined>(
    deps.lanes.map((lane) => [lane.connectionId, undefined]),
  );
  const loop = {
    height,
    tx: deps.tx,
    onRound: (id: string, fault: string | undefined): void => void faults.set(id, fault),
  };
  let isLoaded = false;
  const onLoaded = (): void => {
    isLoaded = true;
  };
  return {
    services: [
      { name: "local chain subscription", run: (signal) => deps.subscription.run(signal) },
      {
        name: "query registry",
        run: (signal) => followChain({ ...deps, journal: deps.tx.journal, onLoaded }, signal),
      },
      ...deps.lanes.map((parts) => laneService(parts, loop)),
    ],
    localHeight: height.now,
    isLoaded: () => isLoaded,
    laneFaults: () => faults,
  };
}

function laneService(parts: LaneParts, loop: Parameters<typeof runLane>[1]): Service {
  const lane: Lane = {
    ...parts,
    localHeight: loop.height.now,
    client: createClientOfConnection(parts.local, parts.connectionId),
    budget: createBatchBudget(parts.settings.limits),
  };
  return { name: `lane ${lane.connectionId}`, run: (signal) => runLane(lane, loop, signal) };
}
