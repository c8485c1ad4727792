import type { RegisteredQuery } from "../../../proto/gen/neutron/interchainqueries/genesis.ts";

/**
 * Whether `sender` may remove a query at a local height: its owner always, anybody once the submit timeout has passed
 * since both the registration and the last submitted result (spec 000, "Authentication", 5).
 */
export function maySenderRemove(query: RegisteredQuery, sender: string, height: bigint): boolean {
  if (sender === query.owner) return true;
  return (
    height > timeoutEnd(query.registeredAtHeight, query.submitTimeout) &&
    height > timeoutEnd(query.lastSubmittedResultLocalHeight, query.submitTimeout)
  );
}

/** The sum is exact: a huge timeout means never, where the deployed chain's uint64 wraps around and means at once. */
function timeoutEnd(from: bigint, timeout: bigint): bigint {
  return from + timeout;
}
