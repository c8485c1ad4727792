import type { JsonObject } from "../../base/json.ts";

/** Calls methods of a CometBFT node. */
export interface RpcCaller {
  /**
   * Calls one method; resolves with the answer's `result`. Settles always: with `ClientError` at the latest at the
   * deadline, with the signal's reason on abort.
   */
  readonly call: (method: string, params: JsonObject, signal: AbortSignal) => Promise<unknown>;
  /** Ends everything under way with `closed`. */
  readonly close: () => void;
}

/** A call and how to read its answer. `decode` gets the name of the endpoint that answered, for its errors. */
export interface RpcRead<T> {
  readonly method: string;
  readonly params: JsonObject;
  readonly decode: (result: unknown, endpoint: string) => T;
}

/** How a call or a request ended: "ok", or the code of the error. */
export type RpcOutcome = string;

/** Listens to the traffic, for metrics. Must not throw. */
export interface RpcObserver {
  /** One JSON-RPC call that settled. */
  readonly onCall: (call: {
    readonly endpoint: string;
    readonly method: string;
    readonly outcome: RpcOutcome;
    readonly durationMs: number;
  }) => void;
  /** One HTTP request that settled; it carried `calls` calls. */
  readonly onRequest: (request: {
    readonly endpoint: string;
    readonly calls: number;
    readonly bytesOut: number;
    readonly bytesIn: number;
    readonly outcome: RpcOutcome;
  }) => void;
}

/** Hears nothing. */
export const silentObserver: RpcObserver = { onCall: () => {}, onRequest: () => {} };
