import type { Clock } from "../../platform/base/clock.ts";
import { clientUpdate } from "./deliver.ts";
import type { CourierChain, Snapshot } from "./courier-chain.ts";
import { CourierError } from "./courier-error.ts";

/** Gas of an update, with that of its fee, is about 200,000. */
const UPDATE_GAS = 1_000_000n;

/**
 * Updates a light client whose newest header is older than a third of its trusting period: without packets nothing else would, and
 * an expired client ends a connection. Returns whether one was updated. Rejects as `deliver`.
 */
export async function refreshClients(
  [one, other]: readonly [Snapshot, Snapshot],
  deps: { readonly clock: Pick<Clock, "nowMs"> },
  signal: AbortSignal,
): Promise<boolean> {
  const refreshed = [
    await refresh(one.chain, other, deps, signal),
    await refresh(other.chain, one, deps, signal),
  ];
  return refreshed.includes(true);
}

async function refresh(
  chain: CourierChain,
  from: Snapshot,
  { clock }: { readonly clock: Pick<Clock, "nowMs"> },
  signal: AbortSignal,
): Promise<boolean> {
  const { queries, connectionId, sender } = chain;
  const clientId = await queries.clientOfConnection(connectionId, signal);
  const { latestHeight, trustingPeriodNs } = await queries.clientState(clientId, signal);
  const timeNs = await queries.consensusTimeNs(clientId, latestHeight, signal);
  if (from.moment.timeNs - timeNs < trustingPeriodNs / 3n) return false;
  const update = await clientUpdate(chain, from, { clock, signal });
  if (update === undefined) return false;
  const { confirmation } = await sender.send([update], UPDATE_GAS, signal);
  if (confirmation.kind === "included") return true;
  const log = confirmation.kind === "lost" ? confirmation.reason : confirmation.log;
  const text = `${chain.chainId} refused the update of ${clientId}: ${log}`;
  throw new CourierError({ code: "transaction-failed", chainId: chain.chainId }, text);
}
