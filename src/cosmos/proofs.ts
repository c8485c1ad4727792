/**
 * `relaywatch/proofs`: ICS-23 proofs of store values, and headers as light clients verify them. Nothing here reads a network.
 *
 * A value is proven in two steps: `verifyHeader` verifies a header against a trusted one, and `createProofVerifier().verify` the value
 * against the header's `appHash`, which is the root of the state one height before.
 */
export { CometError } from "./comet/comet-error.ts";
export {
  type TrustedHeader,
  type TrustOptions,
  type UntrustedHeader,
  verifyHeader,
} from "./comet/light-client.ts";
export { parseSignedHeader, parseValidators } from "./comet/rpc-json.ts";
export {
  createProofVerifier,
  type ProofItem,
  type ProofVerifier,
} from "./merkle/ics23/proof-verifier.ts";
