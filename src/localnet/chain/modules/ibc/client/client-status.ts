import type { Context } from "../../../runtime/context.ts";
import { isZeroHeight, ZERO_HEIGHT } from "../host/height.ts";
import { getClientParams, isAllowedClient } from "../host/params.ts";
import { durationNs } from "../tendermint/duration.ts";
import type { ClientStore } from "./client-store.ts";
import { type StoredClient } from "./client-state.ts";
import { LOCALHOST } from "../host/identifiers.ts";
import type { ConsensusState } from "./consensus-state.ts";

/** Status of a client. "Unauthorized": the params do not allow its type. */
export type ClientStatus = "Active" | "Expired" | "Frozen" | "Unauthorized";

/** Returns the status of a client at this block. As in ibc-go, "Frozen" takes precedence over "Expired". */
export function statusOf(context: Context, client: StoredClient, store: ClientStore): ClientStatus {
  if (!isAllowedClient(getClientParams(context), client.type)) return "Unauthorized";
  if (client.type === LOCALHOST) return "Active";
  if (!isZeroHeight(client.state.frozenHeight ?? ZERO_HEIGHT)) return "Frozen";
  const latest = store.consensusState(client.state.latestHeight ?? ZERO_HEIGHT);
  // As in ibc-go, a client without the consensus state of its latest height counts as expired.
  if (latest === undefined) return "Expired";
  return isExpired(latest, durationNs(client.state.trustingPeriod), context.timeNs) ? "Expired" : "Active";
}

/**
 * Whether a consensus state is older than the trusting period at `nowNs`. An age of exactly the period counts as
 * expired.
 */
export function isExpired(state: ConsensusState, trustingPeriodNs: bigint, nowNs: bigint): boolean {
  return state.timeNs + trustingPeriodNs <= nowNs;
}
