import { CodedError } from "../base/errors.ts";

/** What can be wrong with a message, its bytes or its JSON. `path` names the field, e.g. `result.kv_results[0].key`. */
export type ProtoErrorFacts =
  | { readonly code: "unknown-message"; readonly typeName: string }
  | { readonly code: "unresolvable-type-url"; readonly typeUrl: string }
  | { readonly code: "bad-bytes"; readonly typeName: string }
  | { readonly code: "bad-json"; readonly path: string }
  | { readonly code: "unknown-field"; readonly typeName: string; readonly fieldNumber: number }
  | { readonly code: "wrong-wire-type"; readonly typeName: string; readonly fieldNumber: number }
  | { readonly code: "too-deep" }
  | { readonly code: "bad-chain-name"; readonly chainName: string };

/** A message, its bytes or its JSON that cannot be used. */
export class ProtoError extends CodedError<ProtoErrorFacts> {}
