/** How the proofs of one kind of tree must look (`ics23.ProofSpec`). Both kinds hash with SHA-256 throughout. */
export interface ProofSpec {
  readonly name: "iavl" | "tendermint";
  /** Bytes of an inner operation's prefix, without a left sibling. */
  readonly minPrefix: number;
  readonly maxPrefix: number;
  /** Bytes that a sibling takes in a prefix or suffix. */
  readonly childSize: number;
}

/** `ics23.IavlSpec`: a prefix holds height, size, version and a length byte; a sibling is a length byte and a hash. */
const IAVL_SPEC: ProofSpec = { name: "iavl", minPrefix: 4, maxPrefix: 12, childSize: 33 };

/** `ics23.TendermintSpec`: a prefix is one byte; a sibling is a hash. */
const TENDERMINT_SPEC: ProofSpec = { name: "tendermint", minPrefix: 1, maxPrefix: 1, childSize: 32 };

/** The specs of a Cosmos SDK chain, from the tree that has the value up (ibc-go `GetSDKSpecs`). */
export const SDK_SPECS: readonly [ProofSpec, ProofSpec] = [IAVL_SPEC, TENDERMINT_SPEC];

/** The longest path that a spec without a limit of its own allows. */
export const MAX_DEPTH = 128;

/** Numbers of the enums `HashOp` and `LengthOp` that both specs ask for. */
export const NO_HASH = 0;
export const SHA256 = 1;
export const VAR_PROTO = 1;
