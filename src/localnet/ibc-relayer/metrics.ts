import type { Registry } from "prom-client";
import type { Clock } from "../../platform/base/clock.ts";
import {
  registerStatusMetrics,
  secondsSeries,
  series,
  type StatusMetric,
} from "../../platform/process/status-metrics.ts";
import { CYCLE_FAILURES } from "./errors.ts";
import { IBC_RELAYER_STATES, ibcRelayerHealth, type IbcRelayerStatus } from "./status.ts";
import { WORK_KINDS } from "./work.ts";

interface Seen {
  readonly status: IbcRelayerStatus;
  /** Wall-clock time, ms. */
  readonly nowMs: number;
}

/** The series of a metric with one label, the chain's id. */
function perChain(
  valuesOf: (
    chain: IbcRelayerStatus["chains"][number],
    labels: { readonly chain_id: string },
  ) => ReturnType<typeof secondsSeries>,
): Pick<StatusMetric<Seen>, "labelNames" | "values"> {
  return {
    labelNames: ["chain_id"],
    values: ({ status: { chains } }) =>
      chains.flatMap((chain) => valuesOf(chain, { chain_id: chain.chainId })),
  };
}

const METRICS: readonly StatusMetric<Seen>[] = [
  {
    name: "relaywatch_ibc_relayer_state",
    help: "1 for the state of GET /ibc-relayer, 0 for the others: starting, carrying, blocked (a packet cannot be relayed), or failing (no cycle succeeds).",
    labelNames: ["state"],
    values: ({ status, nowMs }) => {
      const { state: now } = ibcRelayerHealth(status, nowMs);
      return IBC_RELAYER_STATES.map((state) => series(state === now ? 1 : 0, { state }));
    },
  },
  {
    name: "relaywatch_ibc_relayer_last_cycle_timestamp_seconds",
    help: "Time at which the last successful cycle ended. Absent before the first one.",
    labelNames: [],
    values: ({ status: { lastCycleMs } }) => secondsSeries(lastCycleMs),
  },
  {
    type: "counter",
    name: "relaywatch_ibc_relayer_failed_cycles_total",
    help: "Failed cycles by reason: node (no response or an invalid one), light-client (cannot be updated), transaction (had no effect), read (a value or its proof), deadline, other.",
    labelNames: ["reason"],
    values: ({ status: { failures } }) =>
      CYCLE_FAILURES.map((reason) => series(failures[reason], { reason })),
  },
  {
    type: "counter",
    name: "relaywatch_ibc_relayer_messages_total",
    help: "Messages included by a chain, by kind: receive (a packet from the other chain), acknowledge and time_out (packets sent by the chain), channel (a handshake step).",
    labelNames: ["chain_id", "kind"],
    values: ({ status: { chains } }) =>
      chains.flatMap(({ chainId, done }) =>
        WORK_KINDS.map((kind) => series(done[kind], { chain_id: chainId, kind })),
      ),
  },
  {
    name: "relaywatch_ibc_relayer_last_message_timestamp_seconds",
    help: "Time at which the IBC relayer last saw one of its messages in a chain's block. Absent before the first one.",
    ...perChain(({ lastDoneMs }, labels) => secondsSeries(lastDoneMs, labels)),
  },
  {
    type: "counter",
    name: "relaywatch_ibc_relayer_refused_messages_total",
    help: "Messages that a chain rejected. Each is retried later.",
    ...perChain(({ refusals }, labels) => [series(refusals, labels)]),
  },
  {
    name: "relaywatch_ibc_relayer_pending_packets",
    help: "Packets sent by a chain that has not received their acknowledgements yet.",
    ...perChain(({ pending }, labels) => [series(pending, labels)]),
  },
  {
    name: "relaywatch_ibc_relayer_oldest_pending_timestamp_seconds",
    help: "Time at which the IBC relayer first saw a chain's oldest pending packet. Absent if no packet is pending.",
    ...perChain(({ oldestPendingMs }, labels) => secondsSeries(oldestPendingMs, labels)),
  },
  {
    name: "relaywatch_ibc_relayer_unreadable_packets",
    help: "Pending packets that cannot be relayed because their blocks, or their acknowledgements' blocks, are pruned.",
    ...perChain(({ unreadable }, labels) => [series(unreadable, labels)]),
  },
];

/** Registers an IBC relayer's metrics. Their values are read from its status on each scrape. */
export function registerIbcRelayerMetrics(
  registry: Registry,
  status: () => IbcRelayerStatus,
  clock: Pick<Clock, "nowMs">,
): void {
  registerStatusMetrics(registry, METRICS, () => ({ status: status(), nowMs: clock.nowMs() }));
}
