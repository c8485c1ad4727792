import type { Validator } from "../../../cosmos/comet/block-types.ts";
import { utf8 } from "../../../platform/base/bytes.ts";
import { errorText } from "../../../platform/base/errors.ts";
import { minInt } from "../../../platform/base/integers.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../../platform/base/json.ts";
import { MempoolError, PageError, requirePage } from "../base/errors.ts";
import type { GenesisDoc } from "../base/genesis-doc.ts";
import { goBase64Decode, goHexDecode, goJsonParse, goKind } from "../base/go-decoding.ts";
import type { NodeView } from "../base/node-view.ts";
import type { CallRouter } from "../grpc/call-router.ts";
import { QueryLanguageError } from "../query-language/parse-query.ts";

export interface RpcContext {
  readonly view: NodeView;
  readonly router: CallRouter;
  readonly genesis: GenesisDoc;
  readonly roundState: () => RoundState;
  /** Maximum time that `broadcast_tx_commit` waits for a block that includes the transaction. */
  readonly commitTimeoutMs: number;
  /** The RPC server's address that `status` reports, such as "tcp://127.0.0.1:26657". */
  readonly rpcAddress: () => string;
}

/** A long result, already formatted as JSON, so that it isn't formatted again with the response. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export interface CallTurn {
  /** Signal that aborts when the node stops. */
  readonly signal: AbortSignal;
  /** Gives the node time for other work. Long computations must await `pause` at intervals. */
  readonly pause: () => Promise<void>;
}

/** The decoded value of each parameter type. In JSON, `int64` is a decimal string, `bytes` is base64, and `hex` is hex. */
interface ParameterValues {
  readonly int64: bigint | undefined;
  readonly string: string;
  readonly bool: boolean;
  readonly bytes: Uint8Array;
  readonly hex: Uint8Array;
}

type ParameterType = keyof ParameterValues;

/** A method's parameter types by name, in the order in which a JSON array lists the parameters. */
type ParameterTypes = Readonly<Record<string, ParameterType>>;

/** A decoded parameter, or undefined if the request lacks the parameter. */
type Parameter = ParameterValues[ParameterType] | undefined;

/** Decoded parameters, keyed by name. A missing string, boolean or byte string has Go's zero value. */
type Parameters<Types extends ParameterTypes> = {
  readonly [Name in keyof Types]: ParameterValues[Types[Name]];
};

type RpcResult = JsonValue | JsonText | Promise<JsonValue | JsonText>;

export interface RpcMethod {
  readonly parameters: ParameterTypes;
  /** Returns the response's `result`, or throws or rejects with an `RpcError`. `values` has the same order as `parameters`. */
  readonly call: (values: readonly Parameter[], context: RpcContext, turn: CallTurn) => RpcResult;
}

/** Describes a method by its parameters and a function that returns its result. */
export function method<Types extends ParameterTypes>(
  parameters: Types,
  call: (parameters: Parameters<Types>, context: RpcContext, turn: CallTurn) => RpcResult,
): RpcMethod {
  return { parameters, call: (values, context, turn) => call(named(parameters, values), context, turn) };
}

const ZERO = { int64: undefined, string: "", bool: false, bytes: new Uint8Array(), hex: new Uint8Array() };

function named<Types extends ParameterTypes>(types: Types, values: readonly Parameter[]): Parameters<Types>;
function named(types: ParameterTypes, values: readonly Parameter[]): object {
  return Object.fromEntries(
    Object.entries(types).map(([name, type], index) => [name, values[index] ?? ZERO[type]]),
  );
}

/** Reads a JSON-RPC request's `params`, which may be an object or array. Throws CometBFT's error for an invalid value. */
export function parametersFromJson(types: ParameterTypes, params: unknown): readonly Parameter[] {
  if (Array.isArray(params)) return fromArray(types, params);
  if (params !== null && params !== undefined && !isRecord(params)) {
    throw new Error(
      `unknown type for JSON params: json: cannot unmarshal ${goKind(params)} into Go value of type []json.RawMessage. Expected map or array`,
    );
  }
  return Object.entries(types).map(([name, type]) => fromJson(type, params?.[name]));
}

/**
 * Reads parameters of a URI call like CometBFT (`rpc/jsonrpc/server/http_uri_handler.go`). Integers are unquoted, hex starts with
 * 0x, and everything else is JSON, so strings need quotes, as in `/abci_query?path="store/bank/key"&data=0x00`. For an invalid
 * value, throws an `Error` with CometBFT's message.
 */
export function parametersFromUri(types: ParameterTypes, search: URLSearchParams): readonly Parameter[] {
  return Object.entries(types).map(([name, type]) => fromText(type, search.get(name) ?? ""));
}

function fromArray(types: ParameterTypes, params: readonly unknown[]): readonly Parameter[] {
  const names = Object.keys(types);
  if (params.length !== names.length) {
    // Format each parameter as Go prints a json.RawMessage, which is a byte slice: as a list of numbers.
    const raw = params.map((each) => `[${utf8(JSON.stringify(each)).join(" ")}]`).join(" ");
    throw new Error(
      `expected ${names.length} parameters ([${names.join(" ")}]), got ${params.length} ([${raw}])`,
    );
  }
  return Object.values(types).map((type, index) => fromJson(type, params[index]));
}

function fromJson(type: ParameterType, value: unknown): Parameter {
  if (value === undefined || value === null) return undefined;
  switch (type) {
    case "int64":
      return readInt64(value);
    case "bool":
      if (typeof value !== "boolean") throw wrongType(value, "bool");
      return value;
    case "string":
      return readText(value, "string");
    case "bytes":
      return goBase64Decode(readText(value, "[]uint8"));
    case "hex":
      if (typeof value !== "string") throw new Error(`invalid hex string: ${JSON.stringify(value)}`);
      return goHexDecode(value);
  }
}

function readText(value: unknown, goType: string): string {
  if (typeof value !== "string") throw wrongType(value, goType);
  return value;
}

const INT64_MAX = 2n ** 63n - 1n;

/** Reads a 64-bit integer from a string of digits, because CometBFT's JSON rejects unquoted 64-bit integers. */
function readInt64(value: unknown): bigint {
  if (typeof value !== "string") {
    throw new Error(
      `invalid 64-bit integer encoding ${JSON.stringify(JSON.stringify(value))}, expected string`,
    );
  }
  // Like CometBFT, decode the string's content as JSON again, so that "null" is zero and "x" is a syntax error.
  const parsed: unknown = goJsonParse(value);
  if (parsed === null) return 0n;
  if (typeof parsed !== "number") throw wrongType(parsed, "int64");
  if (!/^-?\d+$/.test(value)) throw wrongNumber(value);
  const number = BigInt(value);
  if (number > INT64_MAX || number < -INT64_MAX - 1n) throw wrongNumber(value);
  return number;
}

function wrongType(value: unknown, goType: string): Error {
  return new Error(`json: cannot unmarshal ${goKind(value)} into Go value of type ${goType}`);
}

function wrongNumber(text: string): Error {
  return new Error(`json: cannot unmarshal number ${text} into Go value of type int64`);
}

function fromText(type: ParameterType, text: string): Parameter {
  if (text === "") return undefined;
  const isBytes = type === "bytes" || type === "hex";
  if (type === "int64" && /^-?\d+$/.test(text)) return readInt64(text);
  if (/^0x/i.test(text)) return fromHexText(type, text.slice(2));
  // In a URI, the quoted value of a byte parameter is plain text. In JSON, the value is base64 or hex.
  if (isBytes && text.startsWith('"') && text.endsWith('"')) {
    return utf8(readText(goJsonParse(text), "string"));
  }
  if (type === "int64" && !(text.startsWith('"') && text.endsWith('"'))) {
    throw new Error(`invalid 64-bit integer encoding ${JSON.stringify(text)}, expected string`);
  }
  return fromJson(type, goJsonParse(text));
}

function fromHexText(type: ParameterType, hex: string): Parameter {
  if (type === "bytes" || type === "hex") return goHexDecode(hex);
  if (type === "string") return Buffer.from(goHexDecode(hex)).toString("utf8");
  throw new Error(`got a hex string arg, but expected '${type}'`);
}

/** Consensus state that the method `consensus_state` returns, for the next height before its first vote. */
export interface RoundState {
  readonly height: bigint;
  readonly startTimeNs: bigint;
  readonly validators: readonly Validator[];
  readonly proposerAddress: Uint8Array;
}

const DEFAULT_PER_PAGE = 30;
const MAX_PER_PAGE = 100n;

/** Returns the page size like CometBFT's `validatePerPage`: 30 if the parameter is missing or below 1, and at most 100. Never throws. */
export function toPerPage(perPage: bigint | undefined): number {
  if (perPage === undefined || perPage < 1n) return DEFAULT_PER_PAGE;
  return Number(minInt(perPage, MAX_PER_PAGE));
}

/** Like CometBFT's `validatePage`, returns the requested page, or page 1 by default. Throws `PageError` if the page does not exist. */
export function toPage(page: bigint | undefined, total: number, perPage: number): number {
  if (page === undefined) return 1;
  requirePage(page, total, perPage);
  return Number(page);
}

/**
 * Returns the requested height, or `latest` by default. Throws `RpcError` with CometBFT's message if the height is outside the
 * range from `lowest` to `latest`.
 */
export function toHeight(requested: bigint | undefined, latest: bigint, lowest: bigint): bigint {
  if (requested === undefined) return latest;
  if (requested <= 0n) throw internal(`height must be greater than 0, but got ${requested}`);
  if (requested > latest) {
    throw internal(
      `height ${requested} must be less than or equal to the current blockchain height ${latest}`,
    );
  }
  if (requested < lowest) {
    throw internal(`height ${requested} is not available, lowest height is ${lowest}`);
  }
  return requested;
}

/** JSON-RPC codes, with the messages that CometBFT sends for them (`rpc/jsonrpc/types`). */
const KINDS = {
  parse: { code: -32700, message: "Parse error. Invalid JSON" },
  "invalid-request": { code: -32600, message: "Invalid Request" },
  "method-not-found": { code: -32601, message: "Method not found" },
  "invalid-params": { code: -32602, message: "Invalid params" },
  internal: { code: -32603, message: "Internal error" },
  server: { code: -32000, message: "Server error" },
} as const;

/** Thrown if a call fails with a JSON-RPC error. The error's field `data` contains the exception's message. */
export class RpcError extends Error {
  readonly kind: keyof typeof KINDS;

  constructor(kind: keyof typeof KINDS, data = "") {
    super(data);
    this.name = "RpcError";
    this.kind = kind;
  }
}

/** Creates an `RpcError` with code -32603 "Internal error", which CometBFT uses for all method errors, even wrong parameters. */
export function internal(data: string): RpcError {
  return new RpcError("internal", data);
}

export function rpcErrorToJson(error: RpcError): JsonObject {
  const { code, message } = KINDS[error.kind];
  return error.message === "" ? { code, message } : { code, message, data: error.message };
}

/** Converts a thrown value to an `RpcError` for the client. Rethrows a value that indicates a bug in the node. */
export function toRpcError(thrown: unknown): RpcError {
  if (thrown instanceof RpcError) return thrown;
  if (thrown instanceof MempoolError || thrown instanceof PageError || thrown instanceof QueryLanguageError) {
    return internal(errorText(thrown));
  }
  throw thrown;
}
