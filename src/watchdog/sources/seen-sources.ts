import { type Observation, type Seen, votesSeen } from "./observation.ts";
import { NOT_CONFIGURED } from "./page-reader.ts";
import type { SourceName } from "./targets.ts";

export interface SeenSource {
  readonly source: SourceName;
  /** Name of the node; absent for chain sources. */
  readonly node?: string;
  readonly seen: Exclude<Seen<unknown>, { readonly state: "not-configured" }>;
}

/** The chain's sources in the order used by the API, each with its field in an observation. */
const CHAIN_SOURCES = [
  ["chain-head", "head"],
  ["chain-validator", "validator"],
  ["chain-prices", "prices"],
  ["chain-revenue", "revenue"],
  ["chain-upgrade", "upgrade"],
  ["chain-payment", "payment"],
  ["chain-slashing", "slashing"],
  ["chain-peers", "peers"],
] as const;

/** Returns the configured sources in an observation, node by node, in the order used by the API. */
export function seenSources({ nodes, chain }: Observation): readonly SeenSource[] {
  const ofNodes = nodes.flatMap((node) => [
    { source: "node" as const, node: node.name, seen: votesSeen(node) },
    { source: "prices" as const, node: node.name, seen: node.prices },
    { source: "oracle-metrics" as const, node: node.name, seen: node.oracleMetrics },
    { source: "sidecar-metrics" as const, node: node.name, seen: node.sidecar },
    { source: "grpc" as const, node: node.name, seen: node.grpc },
  ]);
  const egress = [...(nodes[0]?.egress.values() ?? [])];
  // Report only the first unreachable outbound target, because all outbound targets share the source `egress`.
  const worst = egress.find(({ state }) => state === "error") ?? egress[0];
  return [
    ...ofNodes,
    { source: "egress" as const, seen: worst ?? NOT_CONFIGURED },
    ...CHAIN_SOURCES.map(([source, field]) => ({ source, seen: chain[field] ?? NOT_CONFIGURED })),
  ].flatMap(({ seen, ...source }) => (seen.state === "not-configured" ? [] : [{ ...source, seen }]));
}
