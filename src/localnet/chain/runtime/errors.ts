import { errorText } from "../../../platform/base/errors.ts";

/**
 * An error's description and wraps. The description and wraps cannot be parsed from the error's text, because a wrap can contain
 * colons.
 */
export interface ErrorOrigin {
  readonly description: string;
  readonly wraps?: readonly string[];
}

/**
 * Fails a transaction or query with a codespace, code and text, as errors registered with the SDK do. Any other exception in chain
 * code is a bug in this program and stops the state machine.
 */
export class ModuleError extends Error {
  readonly codespace: string;
  readonly code: number;
  /** The registered description for (codespace, code), which is always the last part of the text. */
  readonly description: string;
  /** The wrapping texts that precede the description, innermost first. A wrapping text may contain colons itself. */
  readonly wraps: readonly string[];

  /**
   * `text` is the complete ABCI log, such as "outer: inner: description", with the outermost wrap first. `origin` is the
   * description, or the description and the wraps. By default, the description is the part after the last colon and space.
   */
  constructor(codespace: string, code: number, text: string, origin?: string | ErrorOrigin) {
    super(text);
    this.name = "ModuleError";
    this.codespace = codespace;
    this.code = code;
    const given = typeof origin === "string" ? { description: origin } : origin;
    this.description = given?.description ?? text.split(": ").at(-1) ?? text;
    this.wraps = given?.wraps ?? wrapsBefore(text, this.description);
  }

  /** Returns the same error with `words` and a colon prepended to its text, like Go's `errorsmod.Wrap`. */
  wrap(words: string): ModuleError {
    const { description } = this;
    const wraps = [...this.wraps, words];
    return new ModuleError(this.codespace, this.code, `${words}: ${this.message}`, { description, wraps });
  }
}

function wrapsBefore(text: string, description: string): readonly string[] {
  const suffix = `: ${description}`;
  return text.endsWith(suffix) ? [text.slice(0, -suffix.length)] : [];
}

/**
 * An error that is a panic in Go, such as running out of gas. Ordinary error handling must not catch this error. A panic may be
 * caught only where Go recovers from panics, i.e. in the transaction runner and in callers with a separate gas meter.
 */
export class ChainPanic extends ModuleError {}

/** Creates an error of a registered kind. `ErrX()` has the text "description", and `ErrX("words")` has "words: description". */
export type ErrorKind = (words?: string) => ModuleError;

/**
 * Registers an error kind, like Go's `errorsmod.Register`. Each module's `errors.ts` defines the kinds as constants with their Go
 * names, such as `export const ErrSendDisabled = registerError("bank", 5, "send transactions are disabled")`. To throw such an
 * error, write `throw ErrSendDisabled(words)`.
 */
export function registerError(codespace: string, code: number, description: string): ErrorKind {
  return (words) => {
    const text = words === undefined ? description : `${words}: ${description}`;
    return new ModuleError(codespace, code, text, description);
  };
}

/** Returns a version of {@link registerError} that is bound to one codespace. */
export function errorsOf(codespace: string): (code: number, description: string) => ErrorKind {
  return (code, description) => registerError(codespace, code, description);
}

/** Creates an error that is unregistered in Go (`errors.New`). ABCI reports the error as code 1 in the codespace "undefined". */
export function unregisteredError(text: string): ModuleError {
  return new ModuleError("undefined", 1, text, text);
}

// Errors of codespace "sdk" by their Go names (cosmos-sdk v0.50 types/errors/errors.go), in the order of their codes.
const sdkError = errorsOf("sdk");

export const ErrTxDecode = sdkError(2, "tx parse error");
export const ErrUnauthorized = sdkError(4, "unauthorized");
export const ErrInsufficientFunds = sdkError(5, "insufficient funds");
export const ErrUnknownRequest = sdkError(6, "unknown request");
export const ErrInvalidAddress = sdkError(7, "invalid address");
export const ErrInvalidPubKey = sdkError(8, "invalid pubkey");
export const ErrUnknownAddress = sdkError(9, "unknown address");
export const ErrInvalidCoins = sdkError(10, "invalid coins");
export const ErrOutOfGas = sdkError(11, "out of gas");
export const ErrMemoTooLarge = sdkError(12, "memo too large");
export const ErrInsufficientFee = sdkError(13, "insufficient fee");
export const ErrTooManySignatures = sdkError(14, "maximum number of signatures exceeded");
export const ErrNoSignatures = sdkError(15, "no signatures supplied");
export const ErrInvalidRequest = sdkError(18, "invalid request");
export const ErrKeyNotFound = sdkError(22, "key not found");
export const ErrorInvalidSigner = sdkError(24, "tx intended signer does not match the given signer");
export const ErrInvalidHeight = sdkError(26, "invalid height");
export const ErrInvalidType = sdkError(29, "invalid type");
export const ErrTxTimeoutHeight = sdkError(30, "tx timeout height");
export const ErrUnknownExtensionOptions = sdkError(31, "unknown extension options");
export const ErrWrongSequence = sdkError(32, "incorrect account sequence");
export const ErrLogic = sdkError(35, "internal logic error");
export const ErrNotSupported = sdkError(37, "feature not supported");
export const ErrNotFound = sdkError(38, "not found");
export const ErrInvalidGasLimit = sdkError(41, "invalid gas limit");

/** The error that baseapp reports after recovering from a panic, as registered by cosmossdk.io/errors. */
export const ErrPanic = registerError("undefined", 111_222, "panic");

/** Creates the error for a Go panic other than out of gas, with the text that baseapp prints before the stack trace. */
export function goPanic(text: string): ChainPanic {
  return new ChainPanic("undefined", 111_222, `recovered: ${text}: panic`, "panic");
}

/** The `gov` module's error for an authority-only message that another account has signed. */
export const ErrInvalidSigner = registerError(
  "gov",
  13,
  "expected gov account as only signer for proposal message",
);

/**
 * Runs `work`. If `work` throws a `ModuleError`, wraps the error (like Go's `errorsmod.Wrap`) or converts it. Panics are rethrown
 * unchanged.
 */
export function wrapErrors<T>(wrap: string | ((error: ModuleError) => ModuleError), work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ModuleError) || error instanceof ChainPanic) throw error;
    throw typeof wrap === "string" ? error.wrap(wrap) : wrap(error);
  }
}

/** Runs `parse`, which must not consume gas. If `parse` throws, passes the error's message to `fail` and throws the returned error. */
export function orThrow<T>(parse: () => T, fail: (reason: string) => Error): T {
  try {
    return parse();
  } catch (error) {
    throw fail(errorText(error));
  }
}

/** Like {@link orThrow}, but creates an error of the given kind, with `words` before the reason. */
export function orThrowWith<T>(kind: (text: string) => Error, words: string, parse: () => T): T {
  return orThrow(parse, (reason) => kind(`${words}: ${reason}`));
}

/** Returns whether the error is `ErrOutOfGas` (sdk/11). */
export function isOutOfGas(error: ModuleError): boolean {
  return error.codespace === "sdk" && error.code === 11;
}

/** gRPC status codes (`google.rpc.Code`), with the names that Go prints in "rpc error: code = …". */
export const GrpcCode = {
  OK: 0,
  Canceled: 1,
  Unknown: 2,
  InvalidArgument: 3,
  DeadlineExceeded: 4,
  NotFound: 5,
  AlreadyExists: 6,
  PermissionDenied: 7,
  ResourceExhausted: 8,
  FailedPrecondition: 9,
  Aborted: 10,
  OutOfRange: 11,
  Unimplemented: 12,
  Internal: 13,
  Unavailable: 14,
  DataLoss: 15,
  Unauthenticated: 16,
} as const;

/** Fails a query with a gRPC status, from which the REST status and body, or the ABCI code and log, are derived. */
export class QueryError extends Error {
  /** The gRPC status code, one of {@link GrpcCode}. */
  readonly grpcCode: number;

  constructor(grpcCode: number, text: string) {
    super(text);
    this.name = "QueryError";
    this.grpcCode = grpcCode;
  }
}

/** Creates the error for an invalid query request. */
export function invalidArgument(text: string): QueryError {
  return new QueryError(GrpcCode.InvalidArgument, text);
}

/** Creates the error for a query that found nothing. */
export function notFound(text: string): QueryError {
  return new QueryError(GrpcCode.NotFound, text);
}

/** Thrown if a query's request cannot be decoded. grpc-go and baseapp report this differently; see `toQueryFailure`. */
export class UnreadableRequest extends QueryError {
  constructor(cause: unknown) {
    const reason = cause instanceof Error ? cause.message : "not protobuf";
    super(GrpcCode.Internal, reason === "premature EOF" ? "unexpected EOF" : reason);
    this.name = "UnreadableRequest";
  }
}
