import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";
import type { LocalQueries } from "../local-queries.ts";
import type { LightClientState } from "../../cosmos/light-client/client-queries.ts";

/** The light client of a connection as it was read last. */
export interface ClientReading extends LightClientState {
  /** "Active", "Expired", "Frozen", … */
  readonly status: string;
  /** Time of the newest consensus state, wall-clock ms. */
  readonly consensusTimeMs: number;
  /** Wall-clock ms; without an update the client expires then. */
  readonly expiresAtMs: number;
}

/** What is known about the light client of a connection. */
export interface ClientView {
  readonly reading: ClientReading | undefined;
  /** Time since the last successful read, or since the start; ms. */
  readonly sinceReadMs: number;
  /** Error of the last read; undefined after a successful one. */
  readonly error: string | undefined;
}

/** Reads the light client of one connection. */
export interface ClientWatch {
  /** Reads the client. Rejects on abort only. */
  readonly read: (signal: AbortSignal) => Promise<void>;
  readonly view: () => ClientView;
}

/** The reads of a watch. */
export type ClientQueries = Pick<
  LocalQueries,
  "clientOfConnection" | "clientState" | "clientStatus" | "consensusTimeNs"
>;

/** Creates a watch that has read nothing. */
export function createClientWatch(
  local: ClientQueries,
  connectionId: string,
  clock: Pick<Clock, "monotonicMs">,
): ClientWatch {
  let view: Omit<ClientView, "sinceReadMs"> = { reading: undefined, error: undefined };
  let readAtMs = clock.monotonicMs();
  return {
    read: async (signal) => {
      try {
        view = { reading: await readClient(local, connectionId, signal), error: undefined };
        readAtMs = clock.monotonicMs();
      } catch (error) {
        signal.throwIfAborted();
        view = { ...view, error: errorText(error) };
      }
    },
    view: () => ({ ...view, sinceReadMs: clock.monotonicMs() - readAtMs }),
  };
}

async function readClient(
  local: ClientQueries,
  connectionId: string,
  signal: AbortSignal,
): Promise<ClientReading> {
  const clientId = await local.clientOfConnection(connectionId, signal);
  const [state, status] = await Promise.all([
    local.clientState(clientId, signal),
    local.clientStatus(clientId, signal),
  ]);
  // As in ibc-go: a client expires with its latest consensus state.
  const timeNs = await local.consensusTimeNs(clientId, state.latestHeight, signal);
  return {
    ...state,
    status,
    consensusTimeMs: toMs(timeNs),
    expiresAtMs: toMs(timeNs + state.trustingPeriodNs),
  };
}

function toMs(ns: bigint): number {
  return Number(ns / 1_000_000n);
}
