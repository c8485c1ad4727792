import { Counter, Gauge, type Registry } from "prom-client";
import type { Clock } from "../../platform/base/clock.ts";
import { CYCLE_FAILURES } from "./errors.ts";
import { IBC_RELAYER_STATES, ibcRelayerHealth, type IbcRelayerStatus } from "./status.ts";
import { WORK_KINDS } from "./work.ts";

/** One value of a metric. */
interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric with values from the status. */
interface StatusMetric {
  readonly type: "counter" | "gauge";
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  /** Returns all series. A series that is not returned is absent, for instance before its first reading. */
  readonly values: (status: IbcRelayerStatus, nowMs: number) => readonly Series[];
}

const METRICS: readonly StatusMetric[] = [
  {
    type: "gauge",
    name: "relaywatch_ibc_relayer_state",
    help: "1 for the state of GET /ibc-relayer, 0 for the others: starting, carrying, blocked (a packet cannot be relayed), or failing (no cycle succeeds).",
    labelNames: ["state"],
    values: (status, nowMs) => {
      const { state: now } = ibcRelayerHealth(status, nowMs);
      return IBC_RELAYER_STATES.map((state) => ({ labels: { state }, value: state === now ? 1 : 0 }));
    },
  },
  {
    type: "gauge",
    name: "relaywatch_ibc_relayer_last_cycle_timestamp_seconds",
    help: "Time of the end of the last cycle without an error. Absent before the first one.",
    labelNames: [],
    values: ({ lastCycleMs }) => timeOf(lastCycleMs, {}),
  },
  {
    type: "counter",
    name: "relaywatch_ibc_relayer_failed_cycles_total",
    help: "Failed cycles by reason: node (no response or a bad one), light-client (it cannot be updated), transaction (it had no effect), read (a value or its proof), deadline, other.",
    labelNames: ["reason"],
    values: ({ failures }) =>
      CYCLE_FAILURES.map((reason) => ({ labels: { reason }, value: failures[reason] })),
  },
  {
    type: "counter",
    name: "relaywatch_ibc_relayer_messages_total",
    help: "Messages in blocks of a chain by kind: receive (a packet of the other chain), acknowledge and time_out (packets that the chain sent), channel (a step of a handshake).",
    labelNames: ["chain_id", "kind"],
    values: ({ chains }) =>
      chains.flatMap(({ chainId, done }) =>
        WORK_KINDS.map((kind) => ({ labels: { chain_id: chainId, kind }, value: done[kind] })),
      ),
  },
  {
    type: "gauge",
    name: "relaywatch_ibc_relayer_last_message_timestamp_seconds",
    help: "Time at which the IBC relayer saw its last message in a block of a chain. Absent before the first one.",
    labelNames: ["chain_id"],
    values: ({ chains }) =>
      chains.flatMap(({ chainId, lastDoneMs }) => timeOf(lastDoneMs, { chain_id: chainId })),
  },
  {
    type: "counter",
    name: "relaywatch_ibc_relayer_refused_messages_total",
    help: "Messages that a chain rejected. Each is retried later.",
    labelNames: ["chain_id"],
    values: ({ chains }) =>
      chains.map(({ chainId, refusals }) => ({ labels: { chain_id: chainId }, value: refusals })),
  },
  {
    type: "gauge",
    name: "relaywatch_ibc_relayer_pending_packets",
    help: "Packets that a chain sent and whose acknowledgement it does not have.",
    labelNames: ["chain_id"],
    values: ({ chains }) =>
      chains.map(({ chainId, pending }) => ({ labels: { chain_id: chainId }, value: pending })),
  },
  {
    type: "gauge",
    name: "relaywatch_ibc_relayer_oldest_pending_timestamp_seconds",
    help: "Time at which the IBC relayer first saw the oldest pending packet of a chain. Absent when none is pending.",
    labelNames: ["chain_id"],
    values: ({ chains }) =>
      chains.flatMap(({ chainId, oldestPendingMs }) => timeOf(oldestPendingMs, { chain_id: chainId })),
  },
  {
    type: "gauge",
    name: "relaywatch_ibc_relayer_unreadable_packets",
    help: "Pending packets that cannot be relayed, because the blocks with them or with their acknowledgements are pruned.",
    labelNames: ["chain_id"],
    values: ({ chains }) =>
      chains.map(({ chainId, unreadable }) => ({ labels: { chain_id: chainId }, value: unreadable })),
  },
];

/** Registers the metrics of an IBC relayer. They are read from its status when they are scraped. */
export function registerIbcRelayerMetrics(
  registry: Registry,
  status: () => IbcRelayerStatus,
  clock: Pick<Clock, "nowMs">,
): void {
  for (const { type, name, help, labelNames, values } of METRICS) {
    const options = { name, help, labelNames: [...labelNames], registers: [registry] };
    const read = (): readonly Series[] => values(status(), clock.nowMs());
    if (type === "counter") registerCounter(options, read);
    else registerGauge(options, read);
  }
}

interface MetricOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: string[];
  readonly registers: Registry[];
}

function registerGauge(options: MetricOptions, read: () => readonly Series[]): void {
  const gauge: Gauge<string> = new Gauge({
    ...options,
    collect: () => {
      gauge.reset();
      // A reset sets a gauge without labels to 0, which would be a wrong value when there is none.
      if (options.labelNames.length === 0) gauge.remove();
      for (const { labels, value } of read()) gauge.set({ ...labels }, value);
    },
  });
}

function registerCounter(options: MetricOptions, read: () => readonly Series[]): void {
  const counter: Counter<string> = new Counter({
    ...options,
    collect: () => {
      counter.reset();
      for (const { labels, value } of read()) counter.inc({ ...labels }, value);
    },
  });
}

function timeOf(atMs: number | undefined, labels: Series["labels"]): readonly Series[] {
  return atMs === undefined ? [] : [{ labels, value: atMs / 1_000 }];
}
