import { NO_CAUSE } from "../alerts/miss-causes.ts";

/**
 * Causes of incidents in words for the public, without naming machines, programs or alerts. The keys are the names of conditions
 * and the kinds of ledger events.
 */
const WORDS: Readonly<Record<string, string>> = {
  "sidecar-down": "The price service did not respond",
  "oracle-calls-failing": "Requests for prices failed",
  "all-prices-missing": "No prices were available",
  "major-pairs-missing": "Important prices were missing",
  "empty-prices-counted": "The price service had no prices",
  "stale-price-timestamp": "Prices were out of date",
  "sidecar-too-slow": "The price service was too slow",
  "sidecar-slow": "The price service was too slow",
  "websocket-providers-failing": "Price providers failed",
  "grpc-closed": "The price service lost its connection",
  "egress-closed": "The network to the price providers failed",
  "chain-halted": "The chain made no blocks",
  "node-halted": "The node stopped",
  "node-behind": "The node was behind the chain",
  "not-in-validator-set": "The validator was not in the active set",
  "not-signing": "The validator did not sign blocks",
  "node-not-voting": "The validator did not take part in voting",
  "validator-jailed": "The chain suspended the validator",
  "validator-tombstoned": "The chain excluded the validator",
  "network-votes-missing": "Prices from many validators were missing",
  "sidecar-restart": "The price service restarted",
  "node-restart": "The node restarted",
  halt: "The chain made no blocks",
  gap: "Monitoring had no data",
  "two-nodes": "Monitoring had contradictory data",
  [NO_CAUSE]: "The cause is not known",
};

/** Describes a cause in words for the public, as a sentence without its trailing period. */
export function publicCause(cause: string): string {
  return Object.hasOwn(WORDS, cause) ? (WORDS[cause] ?? OTHER) : OTHER;
}

const OTHER = "A technical problem";
