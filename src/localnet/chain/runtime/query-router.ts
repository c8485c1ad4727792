import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { SimulationResponse, TxMsgData } from "../../../cosmos/proto/gen/cosmos/base/abci/v1beta1/abci.ts";
import { SimulateRequest, SimulateResponse } from "../../../cosmos/proto/gen/cosmos/tx/v1beta1/service.ts";
import { Tx } from "../../../cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { messageToJson } from "../../../cosmos/proto/json.ts";
import { prefixEnd, utf8 } from "../../../platform/base/bytes.ts";
import { unreachable } from "../../../platform/base/errors.ts";
import { stringifyJson } from "../../../platform/base/json.ts";
import type { StoreView } from "../store/multi-store.ts";
import type { QueryRequest, QueryResponse, TxResult } from "./abci.ts";
import type { Context, QueryHandler } from "./context.ts";
import { decodeRequest } from "./handlers.ts";
import { InterruptedError, type Interrupt } from "./gas.ts";
import * as errors from "./errors.ts";

/** Indexes query handlers by gRPC path. Throws a plain error if two handlers have the same path. */
export function collectQueries(handlers: readonly QueryHandler[]): ReadonlyMap<string, QueryHandler> {
  const byPath = new Map<string, QueryHandler>();
  for (const handler of handlers) {
    if (byPath.has(handler.path)) unreachable(`two modules answer ${handler.path}`);
    byPath.set(handler.path, handler);
  }
  return byPath;
}

/** The states, handlers and functions that a query needs to run. */
export interface QueryState {
  readonly version: string;
  readonly chainName: string;
  /** Query handlers by gRPC path, such as `/cosmos.bank.v1beta1.Query/Balance`. */
  readonly handlers: ReadonlyMap<string, QueryHandler>;
  readonly simulate: (tx: Uint8Array) => TxResult;
  /** Called while a query consumes gas. Throws if the query has taken too long. */
  readonly interrupt?: Interrupt | undefined;
  /** View of the stores at the latest committed height. */
  readonly latest: StoreView;
  /** Returns the view at a committed height, or undefined if the height has been pruned. */
  readonly view: (height: bigint) => StoreView | undefined;
  /** Creates the context for a gRPC query, whose writes are dropped. */
  readonly contextOf: (view: StoreView) => Context;
}

/** Runs an ABCI query. Queries cannot change the state, so even a bug yields only an `ErrPanic` response, as in baseapp. */
export function runQuery(request: QueryRequest, state: QueryState): QueryResponse {
  try {
    return routeQuery(request, state);
  } catch (thrown) {
    if (thrown instanceof errors.ModuleError) return errorResponse(thrown);
    if (thrown instanceof InterruptedError) return failureResponse(thrown);
    const text = thrown instanceof Error ? thrown.message : String(thrown);
    return errorResponse(errors.ErrPanic(text), { grpcCode: errors.GrpcCode.Internal, grpcMessage: text });
  }
}

/** Builds the response to a failed gRPC query. Rethrows an error that {@link toQueryFailure} cannot convert. */
function failureResponse(thrown: unknown, response: Partial<QueryResponse> = {}): QueryResponse {
  const { grpcCode, grpcMessage, abci } = toQueryFailure(thrown);
  return errorResponse(abci, { grpcCode, grpcMessage, ...response });
}

/** Routes an ABCI query as baseapp does: first by gRPC path, then by the first path segment. Throws `ModuleError`. */
function routeQuery(request: QueryRequest, state: QueryState): QueryResponse {
  const handler = state.handlers.get(request.path);
  if (handler !== undefined) return queryGrpc(handler, request, state);
  const [first = "", ...rest] = request.path.replace(/^\//, "").split("/");
  switch (first) {
    case "app":
      return queryApp(rest, request, state);
    case "store":
      return queryStore(rest, request, state);
    case "p2p":
      throw errors.ErrUnknownRequest("expected path is p2p filter <addr|id> <parameter>");
    default:
      throw errors.ErrUnknownRequest("unknown query path");
  }
}

/** Runs a gRPC query at the requested height, with baseapp's checks in the same order and with the same error messages. */
function queryGrpc(handler: QueryHandler, request: QueryRequest, state: QueryState): QueryResponse {
  const latest = state.latest.height;
  const height = request.height === 0n ? latest : request.height;
  if (height < 0n)
    throw errors.ErrInvalidRequest("cannot query with height < 0; please provide a valid height");
  if (latest === 0n) throw errors.ErrInvalidHeight("the chain is not ready; please wait for first block");
  if (height > latest) {
    throw errors.ErrInvalidHeight("cannot query with height in the future; please provide a valid height");
  }
  if (height <= 1n && request.prove) {
    throw errors.ErrInvalidRequest("cannot query with proof when height <= 1; please provide a valid height");
  }
  const view = state.view(height);
  if (view === undefined) {
    const text = `failed to load state at height ${height}; version does not exist (latest height: ${latest})`;
    throw errors.ErrNotFound(text);
  }
  return runGrpcQuery(handler, state.contextOf(view), request.data);
}

/** Runs one gRPC query in a context. Returns a failure as a response instead of throwing it. */
export function runGrpcQuery(handler: QueryHandler, context: Context, request: Uint8Array): QueryResponse {
  const { height } = context;
  try {
    return okResponse({ value: handler.query(context, request), height });
  } catch (thrown) {
    return failureResponse(thrown, { height });
  }
}

/** Runs "/app/version" and "/app/simulate", where `path` contains the segments after "app". */
function queryApp(path: readonly string[], request: QueryRequest, state: QueryState): QueryResponse {
  // Like baseapp, set the codespace "sdk" even on successful responses, and echo the requested height.
  const head = { codespace: "sdk", height: request.height === 0n ? state.latest.height : request.height };
  switch (path[0]) {
    case undefined:
      throw errors.ErrUnknownRequest(
        "expected second parameter to be either 'simulate' or 'version', neither was present",
      );
    case "version":
      return okResponse({ ...head, value: utf8(state.version) });
    case "simulate":
      return simulateAsJson(request.data, state, head);
    default:
      throw errors.ErrUnknownRequest(`unknown query: ${path.join("/")}`);
  }
}

function simulateAsJson(tx: Uint8Array, state: QueryState, head: Partial<QueryResponse>): QueryResponse {
  const result = state.simulate(tx);
  if (result.code !== 0)
    throw new errors.ModuleError(result.codespace, result.code, result.log).wrap("failed to simulate tx");
  const bytes = SimulationResponse.encode(toSimulation(result)).finish();
  const json = messageToJson("cosmos.base.abci.v1beta1.SimulationResponse", bytes, state.chainName);
  return okResponse({ ...head, value: utf8(stringifyJson(json)) });
}

/** Creates the query `cosmos.tx.v1beta1.Service/Simulate`, which clients can call over gRPC, REST and `abci_query`. */
export function createSimulateQuery(
  simulate: (tx: Uint8Array, interrupt?: Interrupt) => TxResult,
): QueryHandler {
  return {
    path: "/cosmos.tx.v1beta1.Service/Simulate",
    query: ({ interrupt }, request) => {
      const { tx, txBytes } = decodeRequest(SimulateRequest, request);
      const bytes = tx === undefined ? txBytes : Tx.encode(tx).finish();
      if (bytes.length === 0)
        throw new errors.QueryError(errors.GrpcCode.InvalidArgument, "empty txBytes is not allowed");
      const result = simulate(bytes, interrupt);
      if (result.code !== 0)
        throw new errors.QueryError(
          errors.GrpcCode.Unknown,
          `${result.log} with gas used: '${result.gasUsed}'`,
        );
      return SimulateResponse.encode(toSimulation(result)).finish();
    },
  };
}

function toSimulation(result: TxResult): SimulateResponse {
  const { gasWanted, gasUsed, data, log, events } = result;
  return {
    gasInfo: { gasWanted, gasUsed },
    result: {
      data,
      log,
      events: events.map(({ type, attributes }) => ({ type, attributes: [...attributes] })),
      msgResponses: TxMsgData.decode(data).msgResponses,
    },
  };
}

/** Errors of the codespace "store" (cosmossdk.io/store types/errors.go), which have the same Go names as errors in the codespace "sdk". */
const ErrStoreTxDecode = errors.registerError("store", 3, "tx parse error");
const ErrStoreUnknownRequest = errors.registerError("store", 4, "unknown request");
const ErrStoreInvalidRequest = errors.registerError("store", 7, "invalid request");

/**
 * Runs "store/<name>/key" and "store/<name>/subspace" like the SDK's rootmulti and IAVL stores, where `path` contains the
 * segments after "store". Like the SDK, reads a subspace at the latest height and ignores the requested height.
 */
function queryStore(path: readonly string[], request: QueryRequest, state: QueryState): QueryResponse {
  const height = request.height === 0n ? state.latest.height : request.height;
  if (height <= 1n && request.prove) {
    throw errors.ErrInvalidRequest("cannot query with proof when height <= 1; please provide a valid height");
  }
  const [name = "", ...rest] = path;
  if (!state.latest.has(name)) throw ErrStoreUnknownRequest(`no such store: ${name}`);
  const kind = `/${rest.join("/")}`;
  if (request.data.length === 0)
    // If a proof is requested, the SDK drops the IAVL store's error and then fails because the proof is missing.
    throw request.prove && kind === "/key" ? emptyProof() : ErrStoreTxDecode("query cannot be zero length");
  if (kind === "/subspace") return querySubspace(name, { ...request, height }, state);
  if (kind !== "/key") throw ErrStoreUnknownRequest(`unexpected query path: ${kind}`);
  return queryKey(name, { ...request, height }, state.view(height));
}

function emptyProof(): errors.ModuleError {
  return ErrStoreInvalidRequest("proof is unexpectedly empty; ensure height has not been pruned");
}

function queryKey(name: string, request: QueryRequest, view: StoreView | undefined): QueryResponse {
  const { data: key, height } = request;
  // Unless a proof is requested, the SDK reports a pruned height as a success with this log. A module's store at a height before
  // the module was added is treated in the same way.
  if (view === undefined || !view.has(name)) {
    if (request.prove) throw emptyProof();
    return okResponse({ key, height, log: "version does not exist" });
  }
  const value = view.store(name).get(key) ?? new Uint8Array(0);
  return okResponse({ key, height, value, proof: request.prove ? view.prove(name, key) : undefined });
}

function querySubspace(
  name: string,
  { data: prefix, height }: QueryRequest,
  { latest, interrupt }: QueryState,
): QueryResponse {
  const pairs = new BinaryWriter();
  for (const [key, value] of latest.store(name).iterate(prefix, prefixEnd(prefix))) {
    interrupt?.();
    writePair(pairs, key, value);
  }
  return okResponse({ key: prefix, height, value: pairs.finish() });
}

/**
 * Appends one `cosmos.store.internal.kv.v1beta1.Pairs` entry. 10 and 18 are the tags of fields 1 (pair, key) and 2 (value). An
 * empty value is omitted, as proto3 requires.
 */
function writePair(pairs: BinaryWriter, key: Uint8Array, value: Uint8Array): void {
  const pair = pairs.uint32(10).fork().uint32(10).bytes(key);
  (value.length === 0 ? pair : pair.uint32(18).bytes(value)).join();
}

const NO_BYTES = new Uint8Array(0);

export function okResponse(response: Partial<QueryResponse>): QueryResponse {
  return {
    code: 0,
    codespace: "",
    log: "",
    key: NO_BYTES,
    value: NO_BYTES,
    height: 0n,
    proof: undefined,
    grpcCode: 0,
    grpcMessage: "",
    ...response,
  };
}

/** Builds the response to a failed query. The gRPC status is derived from the error unless `response` specifies one. */
export function errorResponse(
  error: errors.ModuleError,
  response: Partial<QueryResponse> = {},
): QueryResponse {
  const { grpcCode, grpcMessage } = toQueryFailure(error);
  const { code, codespace, message } = error;
  return okResponse({ grpcCode, grpcMessage, ...response, code, codespace, log: message });
}

/** Failure of a gRPC query, in both forms: gRPC status and ABCI error. */
interface QueryFailure {
  readonly grpcCode: number;
  readonly grpcMessage: string;
  readonly abci: errors.ModuleError;
}

const GRPC_NAMES = new Map<number, string>(
  Object.entries(errors.GrpcCode).map(([name, code]) => [code, name]),
);

/**
 * Converts a query's error like baseapp's `gRPCErrorToSDKError`. Rethrows errors that are not in this table:
 *
 * | thrown | gRPC status | ABCI |
 * |---|---|---|
 * | `ModuleError` | 2, "codespace x code n: description: wraps, innermost first" | sdk/6 |
 * | `QueryError` of code 2 (a plain error in Go) | 2, its text | sdk/18 |
 * | other `QueryError` | its code and text | by code, with the text "rpc error: code = … desc = …" |
 * | `UnreadableRequest` | 13 | sdk/18 |
 * | `InterruptedError` | 4 | sdk/6, with the text "rpc error: code = DeadlineExceeded desc = …" |
 */
export function toQueryFailure(thrown: unknown): QueryFailure {
  if (thrown instanceof errors.ModuleError) {
    const grpcMessage = grpcMessageOf(thrown);
    return { grpcCode: errors.GrpcCode.Unknown, grpcMessage, abci: errors.ErrUnknownRequest(thrown.message) };
  }
  if (thrown instanceof errors.UnreadableRequest) {
    // grpc-go reports a request that it cannot decode as Internal, not as InvalidArgument.
    const grpcMessage = `grpc: failed to unmarshal the received message: ${thrown.message}`;
    return {
      grpcCode: errors.GrpcCode.Internal,
      grpcMessage,
      abci: errors.ErrInvalidRequest(thrown.message),
    };
  }
  if (thrown instanceof InterruptedError)
    return toQueryFailure(new errors.QueryError(errors.GrpcCode.DeadlineExceeded, thrown.message));
  if (!(thrown instanceof errors.QueryError)) throw thrown;
  return { grpcCode: thrown.grpcCode, grpcMessage: thrown.message, abci: abciErrorOf(thrown) };
}

function abciErrorOf({ grpcCode, message }: errors.QueryError): errors.ModuleError {
  if (grpcCode === errors.GrpcCode.Unknown) return errors.ErrInvalidRequest(message);
  const text = `rpc error: code = ${GRPC_NAMES.get(grpcCode) ?? `Code(${grpcCode})`} desc = ${message}`;
  switch (grpcCode) {
    case errors.GrpcCode.InvalidArgument:
    case errors.GrpcCode.FailedPrecondition:
      return errors.ErrInvalidRequest(text);
    case errors.GrpcCode.NotFound:
      return errors.ErrKeyNotFound(text);
    case errors.GrpcCode.Unauthenticated:
      return errors.ErrUnauthorized(text);
    default:
      return errors.ErrUnknownRequest(text);
  }
}

/** Formats an error as "codespace x code n: description: inner wrap: outer wrap". The ABCI log has the wraps in reverse order. */
function grpcMessageOf({ codespace, code, description, wraps }: errors.ModuleError): string {
  return `codespace ${codespace} code ${code}: ${[description, ...wraps].join(": ")}`;
}
