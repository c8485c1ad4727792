import type { ConnectionStatus, QueryView, RelayerStatus } from "../health/status.ts";

/** A gauge with values from the status. */
export interface StatusGauge {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  /** Returns all series. A series that is not returned is absent, for instance before its first reading. */
  readonly values: (status: RelayerStatus) => readonly Series[];
}

interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Returns the series of every connection, labelled with its id. */
export function perConnection(
  { connections, queries }: RelayerStatus,
  read: (connection: ConnectionStatus, queries: readonly QueryView[]) => readonly Series[],
): readonly Series[] {
  return connections.flatMap((connection) =>
    read(
      connection,
      queries.filter(({ connectionId }) => connectionId === connection.id),
    ).map(({ labels, value }) => series(value, { connection_id: connection.id, ...labels })),
  );
}

/** Returns the time of an event `sinceMs` ago, in seconds; none when it is unknown. */
export function seenAt(sinceMs: number | undefined, nowMs: number): readonly Series[] {
  return sinceMs === undefined ? [] : [series((nowMs - sinceMs) / 1_000)];
}

/** Returns the greatest value, 0 for none. */
export function greatest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

/** Returns one series. */
export function series(value: number, labels: Series["labels"] = {}): Series {
  return { value, labels };
}
