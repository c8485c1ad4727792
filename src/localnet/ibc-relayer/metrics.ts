import type { Registry } from "prom-client";
import type { Clock } from "../../platform/base/clock.ts";
import {
  gaugesOf,
  oneOf,
  registerStatusMetrics,
  seconds,
  type StatusMetrics,
} from "../../platform/process/status-metrics.ts";
import { CYCLE_FAILURES } from "./errors.ts";
import { IBC_RELAYER_STATES, ibcRelayerHealth, type IbcRelayerStatus } from "./status.ts";
import { WORK_KINDS } from "./work.ts";

interface Seen {
  readonly status: IbcRelayerStatus;
  /** Current time, in ms since the Unix epoch. */
  readonly nowMs: number;
}

const perChain = gaugesOf(["chain_id"], ({ status: { chains } }: Seen) =>
  chains.map((chain) => [[chain.chainId], chain] as const),
);

const METRICS: StatusMetrics<Seen> = {
  relaywatch_ibc_relayer_state: {
    help: "1 for the current state (as in GET /ibc-relayer), 0 for all other states: starting, carrying, blocked (a packet cannot be relayed), or failing (no cycle succeeds).",
    by: ["state"],
    read: ({ status, nowMs }) => oneOf(IBC_RELAYER_STATES, ibcRelayerHealth(status, nowMs).state),
  },
  relaywatch_ibc_relayer_last_cycle_timestamp_seconds: {
    help: "Time at which the IBC relayer's last successful cycle ended. Absent before the first successful cycle.",
    read: ({ status: { lastCycleMs } }) => seconds(lastCycleMs),
  },
  relaywatch_ibc_relayer_failed_cycles_total: {
    type: "counter",
    help: "Failed cycles of the IBC relayer by reason: node (no valid response), light-client (cannot be updated), transaction (had no effect), read (a value or its proof could not be read), deadline (took too long), or other.",
    by: ["reason"],
    read: ({ status: { failures } }) => CYCLE_FAILURES.map((reason) => [reason, failures[reason]]),
  },
  relaywatch_ibc_relayer_messages_total: {
    type: "counter",
    ...perChain(
      "Messages included by a chain, by kind: receive (a packet from the other chain), acknowledge and time_out (packets sent by the chain), channel (a handshake step).",
      ({ done }) => WORK_KINDS.map((kind) => [kind, done[kind]]),
      "kind",
    ),
  },
  relaywatch_ibc_relayer_last_message_timestamp_seconds: perChain(
    "Time at which the IBC relayer last saw one of its messages in a chain's block. Absent before the first message.",
    ({ lastDoneMs }) => seconds(lastDoneMs),
  ),
  relaywatch_ibc_relayer_refused_messages_total: {
    type: "counter",
    ...perChain(
      "Messages that a chain rejected. The IBC relayer retries each rejected message later.",
      ({ refusals }) => refusals,
    ),
  },
  relaywatch_ibc_relayer_pending_packets: perChain(
    "Packets sent by a chain that has not received the packets' acknowledgements yet.",
    ({ pending }) => pending,
  ),
  relaywatch_ibc_relayer_oldest_pending_timestamp_seconds: perChain(
    "Time at which the IBC relayer first saw a chain's oldest pending packet. Absent if no packet is pending.",
    ({ oldestPendingMs }) => seconds(oldestPendingMs),
  ),
  relaywatch_ibc_relayer_unreadable_packets: perChain(
    "Pending packets that cannot be relayed because their blocks, or their acknowledgements' blocks, are pruned.",
    ({ unreadable }) => unreadable,
  ),
};

/** Registers an IBC relayer's metrics. Each scrape computes the values from the relayer's current status. */
export function registerIbcRelayerMetrics(
  registry: Registry,
  status: () => IbcRelayerStatus,
  clock: Pick<Clock, "nowMs">,
): void {
  registerStatusMetrics(registry, METRICS, () => ({ status: status(), nowMs: clock.nowMs() }));
}
