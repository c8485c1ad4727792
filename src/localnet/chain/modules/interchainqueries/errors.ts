import { errorsOf, type ModuleError } from "../../runtime/errors.ts";
import { MODULE_NAME } from "./params.ts";

// Errors of the module by their Go names (chain-extension-modules.md, "Errors"). ErrProtoMarshal (1108) is missing: Go
// throws it for a record that does not encode, and the generated encoders accept every record that a handler can build.
const register = errorsOf(MODULE_NAME);
export const ErrInvalidQueryID = register(1100, "invalid query id");
export const ErrEmptyResult = register(1101, "empty result");
export const ErrInvalidClientID = register(1102, "invalid client id");
export const ErrInvalidUpdatePeriod = register(1103, "invalid update period");
export const ErrInvalidConnectionID = register(1104, "invalid connection id");
export const ErrInvalidQueryType = register(1105, "invalid query type");
export const ErrInvalidTransactionsFilter = register(1106, "invalid transactions filter");
export const ErrInvalidSubmittedResult = register(1107, "invalid result");
export const ErrProtoUnmarshal = register(1109, "failed to unmarshal protobuf bytes");
export const ErrInvalidType = register(1110, "invalid type");
export const ErrInternal = register(1111, "internal error");
export const ErrInvalidProof = register(1112, "merkle proof is invalid");
export const ErrInvalidHeader = register(1113, "header is invalid");
export const ErrInvalidHeight = register(1114, "height is invalid");
export const ErrNoQueryResult = register(1115, "no query result");
export const ErrNotContract = register(1116, "not a contract");
export const ErrEmptyKeys = register(1117, "keys are empty");
export const ErrEmptyKeyPath = register(1118, "key path is empty");
export const ErrEmptyKeyID = register(1119, "key id is empty");
export const ErrTooManyKVQueryKeys = register(1120, "too many keys");
export const ErrUnexpectedQueryTypeGenesis = register(1121, "unexpected query type");

/**
 * Wraps an error with `words` and its own text: "words: text: text". The Go module formats the inner error into the wrapErrors
 * text, so recorded error texts contain it twice.
 */
export function wrapTwice(words: string, error: ModuleError): ModuleError {
  return error.wrap(`${words}: ${error.message}`);
}
