/**
 * `relaywatch/proofs`: ICS-23 proofs for store values, and headers as verified by light clients. Nothing in this module accesses a
 * network.
 *
 * A value is proven in two steps: `verifyHeader` verifies a header against a trusted one, and `createProofVerifier().verify`
 * verifies the value against the header's `appHash`, which is the root of the state one height earlier.
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
