import type { RpcClient } from "@cosmjs/tendermint-rpc";
import { isRecord, type JsonObject } from "../../platform/base/json.ts";
import type { BlockRange } from "./chain-client.ts";

/** Calls JSON-RPC methods on one CometBFT node. */
export interface RpcCaller {
  /**
   * Calls one method and returns the response's `result`. The promise always settles: it rejects with `ClientError` by the
   * deadline, and with the signal's reason on abort.
   */
  readonly call: (method: string, params: JsonObject, signal: AbortSignal) => Promise<unknown>;
  /** Returns the maximum number of calls per request, which decreases if the endpoint refuses a batch. Not set if calls are not batched. */
  readonly batchSize?: () => number;
  /** Closes the caller, so that all pending and later calls reject with `closed`. */
  readonly close: () => void;
}

export type CallEndpoint = (method: string, params: JsonObject) => Promise<unknown>;

/** A call together with the decoder for its result. */
export interface RpcRead<T> {
  readonly method: string;
  readonly params: JsonObject;
  /** `endpoint` is the name of the endpoint that responded, for use in errors. */
  readonly decode: (result: unknown, endpoint: string) => T;
  /**
   * Blocks that the endpoint must have. A status call in the same request checks whether the endpoint has these blocks. Not set if
   * the call needs no blocks.
   */
  readonly blocks?: BlockRange | undefined;
  /** Called with the error of each endpoint that was tried. If the function returns a value, the read resolves with this value. */
  readonly onFailed?: (error: unknown) => T | undefined;
}

/** Several calls that one endpoint must serve. `method` and `params` determine the order in which endpoints are tried. */
export interface RpcWork<T> extends Omit<RpcRead<T>, "decode" | "blocks"> {
  readonly run: (call: CallEndpoint, endpoint: string) => Promise<T>;
}

/**
 * Callbacks that count calls and requests for metrics. The callbacks must not throw. An `outcome` is "ok", "aborted" or an error's
 * code.
 */
export interface RpcObserver {
  /** Called when a JSON-RPC call has settled. */
  readonly onCall: (call: {
    readonly endpoint: string;
    readonly method: string;
    readonly outcome: string;
    readonly durationMs: number;
  }) => void;
  /** Called when an HTTP request, which contains `calls` calls, has ended. */
  readonly onRequest: (request: {
    readonly endpoint: string;
    readonly calls: number;
    readonly bytesOut: number;
    /** Size of the response body in bytes, or 0 if the request failed. */
    readonly bytesIn: number;
    readonly outcome: string;
  }) => void;
}

export const silentObserver: RpcObserver = { onCall: () => {}, onRequest: () => {} };

/**
 * Adapts a caller to CosmJS's `RpcClient` interface, for use in `Comet38Client.create`. CosmJS has no abort signals, so each call
 * ends at its deadline or when `life` aborts. `disconnect` does nothing, because the caller is closed by its creator.
 */
export function createCosmjsRpcClient(caller: Pick<RpcCaller, "call">, life: AbortSignal): RpcClient {
  return {
    execute: async (request) => ({
      jsonrpc: "2.0",
      id: request.id,
      // CosmJS passes an object or an empty array, but never positional parameters.
      result: await caller.call(request.method, isJsonObject(request.params) ? request.params : {}, life),
    }),
    disconnect: () => {},
  };
}

function isJsonObject(value: unknown): value is JsonObject {
  return isRecord(value);
}
