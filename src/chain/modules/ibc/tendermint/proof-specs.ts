import { HashOp, LengthOp, type ProofSpec } from "../../../../proto/gen/cosmos/ics23/v1/proofs.ts";

const LEAF: ProofSpec["leafSpec"] = {
  hash: HashOp.SHA256,
  prehashKey: HashOp.NO_HASH,
  prehashValue: HashOp.SHA256,
  length: LengthOp.VAR_PROTO,
  prefix: Uint8Array.of(0),
};

/** What proofs of an SDK chain look like, as client states carry it: an IAVL tree below a simple Merkle tree of stores. */
export const SDK_PROOF_SPECS: readonly ProofSpec[] = [
  specOf({ childSize: 33, minPrefixLength: 4, maxPrefixLength: 12 }),
  specOf({ childSize: 32, minPrefixLength: 1, maxPrefixLength: 1 }),
];

function specOf(inner: {
  readonly childSize: number;
  readonly minPrefixLength: number;
  readonly maxPrefixLength: number;
}): ProofSpec {
  return {
    leafSpec: LEAF,
    innerSpec: { childOrder: [0, 1], ...inner, emptyChild: new Uint8Array(0), hash: HashOp.SHA256 },
    maxDepth: 0,
    minDepth: 0,
    prehashKeyBeforeComparison: false,
  };
}
