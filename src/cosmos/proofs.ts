/**
 * The entry point `relaywatch/proofs` verifies ICS-23 proofs for store values, and headers like a light client. Nothing in this module
 * accesses a network.
 *
 * To prove a value, first verify a header against a trusted header with `verifyHeader`. Then verify the value with
 * `createProofVerifier().verify` against the header's `appHash`, which is the root of the state one height earlier.
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
