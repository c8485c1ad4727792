import type { Clock } from "../../platform/base/clock.ts";
import { NODE_METRICS } from "../sources/node-reading.ts";
import { SIDECAR_METRICS } from "../sources/sidecar-reading.ts";
import { type Labels, type ValidatorTarget, nodeLabels, sidecarLabels } from "../sources/targets.ts";
import type { ReadSamples } from "./api-client.ts";
import { createSharedQuery, createStoredPages } from "./stored-pages.ts";
import type { StoredPages } from "../polling/poller.ts";
import { TARGET_METRICS } from "./stored-scrapes.ts";

export interface FleetOptions {
  readonly validators: readonly ValidatorTarget[];
  readonly intervalMs: number;
  readonly staleMs: number;
}

export interface FleetDeps {
  readonly read: ReadSamples;
  readonly clock: Clock;
  /** Ends the queries. */
  readonly signal: AbortSignal;
}

/** Creates the reader for all validators whose metrics come from Prometheus. */
export function createFleet({ validators, intervalMs, staleMs }: FleetOptions, deps: FleetDeps): StoredPages {
  const nodes = validators.filter(({ isStored }) => isStored).flatMap((one) => one.nodes);
  const common = {
    // Two scrapes of the sidecar show which prices it updates.
    rangeMs: 2 * staleMs,
    // The polls of all validators begin within one interval, and each gets a result of its own interval.
    shareMs: intervalMs / 2,
  };
  return createStoredPages({
    nodes: createSharedQuery(
      { metrics: [...TARGET_METRICS, ...NODE_METRICS], sets: distinct(nodes.map(nodeLabels)), ...common },
      deps,
    ),
    sidecars: createSharedQuery(
      {
        metrics: [...TARGET_METRICS, ...SIDECAR_METRICS],
        sets: distinct(nodes.map(sidecarLabels)),
        ...common,
      },
      deps,
    ),
    read: deps.read,
    staleMs,
  });
}

function distinct(sets: readonly Labels[]): readonly Labels[] {
  return [...new Map(sets.map((set) => [JSON.stringify(set), set])).values()];
}
