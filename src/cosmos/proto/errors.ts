import { CodedError } from "../../platform/base/errors.ts";

/** Codes and facts of {@link ProtoError}. `path` names the JSON field, e.g. `result.kv_results[0].key`; "" is the message. */
export type ProtoErrorFacts =
  | { readonly code: "unknown-message"; readonly typeName: string }
  | { readonly code: "unresolvable-type-url"; readonly typeUrl: string }
  | { readonly code: "bad-bytes"; readonly typeName: string }
  | { readonly code: "bad-json"; readonly path: string }
  | { readonly code: "unknown-field"; readonly typeName: string; readonly fieldNumber: number }
  | { readonly code: "wrong-wire-type"; readonly typeName: string; readonly fieldNumber: number }
  | { readonly code: "no-amino-json"; readonly typeName: string }
  | { readonly code: "too-deep" }
  | { readonly code: "bad-chain-name"; readonly chainName: string };

/** Thrown for an unusable message type, encoding or JSON form. */
export class ProtoError extends CodedError<ProtoErrorFacts> {}
