/** Form of the proofs of one kind of tree (`ics23.ProofSpec`). Both kinds use SHA-256. Sizes are in bytes. */
export interface ProofSpec {
  readonly name: "iavl" | "tendermint";
  /** Size of an inner operation's prefix without a left sibling. */
  readonly minPrefix: number;
  readonly maxPrefix: number;
  /** Size of a sibling in a prefix or suffix. */
  readonly childSize: number;
}

/** `ics23.IavlSpec`. A prefix has height, size, version and a length byte; a sibling has a length byte and a hash. */
const IAVL_SPEC: ProofSpec = { name: "iavl", minPrefix: 4, maxPrefix: 12, childSize: 33 };

/** `ics23.TendermintSpec`. A prefix has one byte; a sibling is a hash. */
const TENDERMINT_SPEC: ProofSpec = { name: "tendermint", minPrefix: 1, maxPrefix: 1, childSize: 32 };

/** The specs of a Cosmos SDK chain: the store's tree, then the multistore's tree (ibc-go `GetSDKSpecs`). */
export const SDK_SPECS: readonly [ProofSpec, ProofSpec] = [IAVL_SPEC, TENDERMINT_SPEC];

/** Maximum number of steps for a spec without its own limit (ics23/go). */
export const MAX_DEPTH = 128;

/** Values of the enums `HashOp` and `LengthOp` that both specs require. */
export const NO_HASH = 0;
export const SHA256 = 1;
export const VAR_PROTO = 1;
