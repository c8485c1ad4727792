import { type ModuleError, registerError } from "../../runtime/errors.ts";
import { MODULE_NAME } from "./keys.ts";

// Errors of the module by their Go names (chain-extension-modules.md, "Errors"). ErrProtoMarshal (1108) is missing: Go
// throws it for a record that does not encode, and the generated encoders accept every record that a handler can build.
export const ErrInvalidQueryID = registerError(MODULE_NAME, 1100, "invalid query id");
export const ErrEmptyResult = registerError(MODULE_NAME, 1101, "empty result");
export const ErrInvalidClientID = registerError(MODULE_NAME, 1102, "invalid client id");
export const ErrInvalidUpdatePeriod = registerError(MODULE_NAME, 1103, "invalid update period");
export const ErrInvalidConnectionID = registerError(MODULE_NAME, 1104, "invalid connection id");
export const ErrInvalidQueryType = registerError(MODULE_NAME, 1105, "invalid query type");
export const ErrInvalidTransactionsFilter = registerError(MODULE_NAME, 1106, "invalid transactions filter");
export const ErrInvalidSubmittedResult = registerError(MODULE_NAME, 1107, "invalid result");
export const ErrProtoUnmarshal = registerError(MODULE_NAME, 1109, "failed to unmarshal protobuf bytes");
export const ErrInvalidType = registerError(MODULE_NAME, 1110, "invalid type");
export const ErrInternal = registerError(MODULE_NAME, 1111, "internal error");
export const ErrInvalidProof = registerError(MODULE_NAME, 1112, "merkle proof is invalid");
export const ErrInvalidHeader = registerError(MODULE_NAME, 1113, "header is invalid");
export const ErrInvalidHeight = registerError(MODULE_NAME, 1114, "height is invalid");
export const ErrNoQueryResult = registerError(MODULE_NAME, 1115, "no query result");
export const ErrNotContract = registerError(MODULE_NAME, 1116, "not a contract");
export const ErrEmptyKeys = registerError(MODULE_NAME, 1117, "keys are empty");
export const ErrEmptyKeyPath = registerError(MODULE_NAME, 1118, "key path is empty");
export const ErrEmptyKeyID = registerError(MODULE_NAME, 1119, "key id is empty");
export const ErrTooManyKVQueryKeys = registerError(MODULE_NAME, 1120, "too many keys");
export const ErrUnexpectedQueryTypeGenesis = registerError(MODULE_NAME, 1121, "unexpected query type");

/** ibc-go's error for a height without a consensus state. KV submissions return it unchanged. */
export const ErrConsensusStateNotFound = registerError("client", 7, "consensus state not found");

/**
 * Wraps an error with `words` and its own text: "words: text: text". The Go module formats the inner error into the wrapping
 * text, so recorded error texts contain it twice.
 */
export function wrapTwice(words: string, error: ModuleError): ModuleError {
  return error.wrap(`${words}: ${error.message}`);
}
