import { QueryError } from "./module.ts";
import { ModuleError } from "./module-error.ts";
import { ErrInvalidRequest, ErrKeyNotFound, ErrUnauthorized, ErrUnknownRequest } from "./sdk-errors.ts";

/** A failed gRPC query in both forms: gRPC status and ABCI error. */
export interface QueryFailure {
  readonly grpcCode: number;
  readonly grpcMessage: string;
  readonly abci: ModuleError;
}

const GRPC_UNKNOWN = 2;
/** Names of gRPC codes in Go's `rpc error: code = …` text. */
const GRPC_NAMES: Readonly<Record<number, string>> = {
  1: "Canceled",
  2: "Unknown",
  3: "InvalidArgument",
  4: "DeadlineExceeded",
  5: "NotFound",
  6: "AlreadyExists",
  7: "PermissionDenied",
  8: "ResourceExhausted",
  9: "FailedPrecondition",
  10: "Aborted",
  11: "OutOfRange",
  12: "Unimplemented",
  13: "Internal",
  14: "Unavailable",
  15: "DataLoss",
  16: "Unauthenticated",
};

/**
 * Converts the error of a query as the SDK does (baseapp `gRPCErrorToSDKError`). Rethrows anything but `ModuleError` and
 * `QueryError`.
 *
 * | thrown | gRPC status | ABCI |
 * |---|---|---|
 * | `ModuleError` | 2, "codespace x code n: description: wraps, innermost first" | sdk/6 |
 * | `QueryError` of code 2 (a plain error in Go) | 2, its text | sdk/18 |
 * | other `QueryError` | its code and text | by code, with the text "rpc error: code = … desc = …" |
 */
export function toQueryFailure(thrown: unknown): QueryFailure {
  if (thrown instanceof ModuleError) {
    const grpcMessage = grpcMessageOf(thrown);
    return { grpcCode: GRPC_UNKNOWN, grpcMessage, abci: ErrUnknownRequest(thrown.message) };
  }
  if (!(thrown instanceof QueryError)) throw thrown;
  return { grpcCode: thrown.grpcCode, grpcMessage: thrown.message, abci: abciErrorOf(thrown) };
}

function abciErrorOf({ grpcCode, message }: QueryError): ModuleError {
  if (grpcCode === GRPC_UNKNOWN) return ErrInvalidRequest(message);
  const text = `rpc error: code = ${GRPC_NAMES[grpcCode] ?? `Code(${grpcCode})`} desc = ${message}`;
  switch (grpcCode) {
    case 3:
    case 9:
      return ErrInvalidRequest(text);
    case 5:
      return ErrKeyNotFound(text);
    case 16:
      return ErrUnauthorized(text);
    default:
      return ErrUnknownRequest(text);
  }
}

/** Formats "codespace x code n: description: inner wrap: outer wrap". The ABCI log has the reverse order. */
function grpcMessageOf({ codespace, code, description, wraps }: ModuleError): string {
  return `codespace ${codespace} code ${code}: ${[description, ...wraps].join(": ")}`;
}
