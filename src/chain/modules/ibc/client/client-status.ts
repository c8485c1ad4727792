import type { Context } from "../../../runtime/context.ts";
import { isZeroHeight, ZERO_HEIGHT } from "../height.ts";
import { getClientParams, isAllowedClient } from "../params.ts";
import { durationNs } from "../tendermint/duration.ts";
import type { ClientStore } from "./client-store.ts";
import { LOCALHOST, type StoredClient } from "./client-state.ts";
import type { VerifiedState } from "./consensus-state.ts";

/** Whether a client can be used. "Unauthorized": its type is not allowed any more. */
export type ClientStatus = "Active" | "Expired" | "Frozen" | "Unauthorized";

/** The status of a client at this block. */
export function statusOf(context: Context, client: StoredClient, store: ClientStore): ClientStatus {
  if (!isAllowedClient(getClientParams(context), client.type)) return "Unauthorized";
  if (client.type === LOCALHOST) return "Active";
  if (!isZeroHeight(client.state.frozenHeight ?? ZERO_HEIGHT)) return "Frozen";
  const latest = store.consensusState(client.state.latestHeight ?? ZERO_HEIGHT);
  if (latest === undefined) return "Expired";
  return isExpired(latest, durationNs(client.state.trustingPeriod), context.timeNs) ? "Expired" : "Active";
}

/** Whether a consensus state is too old to be trusted at `nowNs`. */
export function isExpired(state: VerifiedState, trustingPeriodNs: bigint, nowNs: bigint): boolean {
  return state.timeNs + trustingPeriodNs <= nowNs;
}
