/** Faults that can be injected into the oracle part of a node, with their visible effect. */
export const ORACLE_FAULTS = {
  "vote-extensions-missing":
    "the node counts Success, but its vote extension arrives late: the chain counts the validator as absent",
  "pre-block-error": "extending the vote fails before the sidecar is asked: neither Success nor Failure",
} as const;

/** Name of a fault of the oracle part of a node. */
export type OracleFaultName = keyof typeof ORACLE_FAULTS;

/** Answers whether a fault is on. */
export interface OracleFaultSet {
  readonly has: (name: OracleFaultName) => boolean;
}
