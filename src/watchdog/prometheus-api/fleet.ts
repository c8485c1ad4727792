import { NODE_METRICS } from "../sources/node-reading.ts";
import { SIDECAR_METRICS } from "../sources/sidecar-reading.ts";
import {
  type Labels,
  type NodeTarget,
  nodeLabels,
  sidecarLabels,
  type ValidatorTarget,
} from "../sources/targets.ts";
import {
  createSharedQuery,
  createStoredPages,
  type SharedQuery,
  type SharedQueryDeps,
} from "./stored-pages.ts";
import type { StoredPages } from "../polling/poller.ts";
import { TARGET_METRICS } from "./stored-scrapes.ts";

interface FleetOptions {
  readonly validators: readonly ValidatorTarget[];
  readonly intervalMs: number;
  readonly staleMs: number;
}

/** Creates the reader for all validators whose metrics come from Prometheus. */
export function createFleet(
  { validators, intervalMs, staleMs }: FleetOptions,
  deps: SharedQueryDeps,
): StoredPages {
  const nodes = validators.filter(({ isStored }) => isStored).flatMap((one) => one.nodes);
  const query = (metrics: readonly string[], labelsOf: (node: NodeTarget) => Labels): SharedQuery => {
    const sets = new Map(nodes.map(labelsOf).map((set) => [JSON.stringify(set), set]));
    const options = {
      metrics: [...TARGET_METRICS, ...metrics],
      sets: [...sets.values()],
      // Two scrapes of the sidecar show which prices it updates.
      rangeMs: 2 * staleMs,
      // The polls of all validators begin within one interval, and each gets a result of its own interval.
      shareMs: intervalMs / 2,
    };
    return createSharedQuery(options, deps);
  };
  return createStoredPages({
    nodes: query(NODE_METRICS, nodeLabels),
    sidecars: query(SIDECAR_METRICS, sidecarLabels),
    read: deps.read,
    staleMs,
  });
}
