import type { ErrorKind, ModuleError } from "../../runtime/module-error.ts";
import { registerError } from "../../runtime/module-error.ts";
import { MODULE_NAME } from "./keys.ts";

function kind(code: number, description: string): ErrorKind {
  return registerError(MODULE_NAME, code, description);
}

// spec 000, "Errors": the whole table. 1108 (a record that does not encode) cannot happen here: the encoder is total.
export const invalidQueryId: ErrorKind = kind(1100, "invalid query id");
export const emptyResult: ErrorKind = kind(1101, "empty result");
export const invalidClientId: ErrorKind = kind(1102, "invalid client id");
export const invalidUpdatePeriod: ErrorKind = kind(1103, "invalid update period");
export const invalidConnectionId: ErrorKind = kind(1104, "invalid connection id");
export const invalidQueryType: ErrorKind = kind(1105, "invalid query type");
export const invalidTransactionsFilter: ErrorKind = kind(1106, "invalid transactions filter");
export const invalidSubmittedResult: ErrorKind = kind(1107, "invalid result");
export const protoUnmarshal: ErrorKind = kind(1109, "failed to unmarshal protobuf bytes");
export const invalidType: ErrorKind = kind(1110, "invalid type");
export const internal: ErrorKind = kind(1111, "internal error");
export const invalidProof: ErrorKind = kind(1112, "merkle proof is invalid");
export const invalidHeader: ErrorKind = kind(1113, "header is invalid");
export const invalidHeight: ErrorKind = kind(1114, "height is invalid");
export const noQueryResult: ErrorKind = kind(1115, "no query result");
export const notContract: ErrorKind = kind(1116, "not a contract");
export const emptyKeys: ErrorKind = kind(1117, "keys are empty");
export const emptyKeyPath: ErrorKind = kind(1118, "key path is empty");
export const emptyKeyId: ErrorKind = kind(1119, "key id is empty");
export const tooManyKeys: ErrorKind = kind(1120, "too many keys");
export const unexpectedQueryTypeGenesis: ErrorKind = kind(1121, "unexpected query type");

/** sdk/29. */
export const sdkInvalidType: ErrorKind = registerError("sdk", 29, "invalid type");

/** A failure as the deployed module words it: the words, the error, and the error's text again. */
export function wrapTwice(words: string, error: ModuleError): ModuleError {
  return error.wrap(`${words}: ${error.message}`);
}
