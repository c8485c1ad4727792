import type { JsonObject } from "../../base/json.ts";
import type { NodeStatus } from "../chain-client.ts";
import { ClientError, classifyClientError, isEndpointError } from "../errors.ts";
import type { EndpointHealth, PooledEndpoint } from "./pooled-endpoint.ts";
import type { RpcCaller, RpcRead } from "../rpc/rpc-caller.ts";

/** Result of a status check of one endpoint. */
export type EndpointCheck =
  | { readonly name: string; readonly ok: true; readonly status: NodeStatus }
  | { readonly name: string; readonly ok: false; readonly error: unknown };

/** Several endpoints of one chain behind one caller. */
export interface EndpointPool extends RpcCaller {
  /** Calls a method and decodes the result. A result that does not decode counts as an error of the endpoint. */
  readonly read: <T>(read: RpcRead<T>, signal: AbortSignal) => Promise<T>;
  /** Reads the status of every endpoint in parallel, also of resting ones. */
  readonly check: (signal: AbortSignal) => Promise<readonly EndpointCheck[]>;
  readonly health: () => readonly EndpointHealth[];
}

/**
 * Creates a pool. `endpoints` are in order of preference.
 *
 * A read tries the endpoints one after the other until one responds: first those that do not rest, then the resting
 * ones. Resting changes the order only, so a read never waits for the end of a rest. A JSON-RPC error is a response and
 * ends the read; the exception is an error for a height that the node has not reached yet. A broadcast is tried once.
 */
export function createEndpointPool(endpoints: readonly PooledEndpoint[]): EndpointPool {
  const read = async <T>(request: RpcRead<T>, signal: AbortSignal): Promise<T> => {
    let error: unknown;
    for (const endpoint of planAttempts(endpoints, request.method)) {
      try {
        return await endpoint.read(request, signal);
      } catch (thrown) {
        if (signal.aborted || !mayTryNext(thrown)) throw thrown;
        error = preferRetryable(error, thrown);
        // A second attempt at a lone endpoint makes sense after a broken connection. After a timeout it doubles the wait.
        if (endpoints.length === 1 && isTimeout(thrown)) break;
      }
    }
    throw error ?? new ClientError({ code: "closed" }, "the client has no endpoints");
  };
  const call = (method: string, params: JsonObject, signal: AbortSignal): Promise<unknown> =>
    read({ method, params, decode: (result) => result }, signal);
  const check = (signal: AbortSignal): Promise<readonly EndpointCheck[]> =>
    Promise.all(endpoints.map((endpoint) => checkEndpoint(endpoint, signal)));
  const close = (): void => {
    for (const endpoint of endpoints) endpoint.close();
  };
  return { call, read, check, close, health: () => endpoints.map((endpoint) => endpoint.health()) };
}

/** Endpoints in the order of attempts: by remaining rest, then as configured. */
function planAttempts(endpoints: readonly PooledEndpoint[], method: string): readonly PooledEndpoint[] {
  const ordered = endpoints.toSorted((a, b) => a.restMs() - b.restMs());
  // A broadcast without a response may have arrived. Only the sender can decide whether to send the bytes again.
  if (method.startsWith("broadcast_")) return ordered.slice(0, 1);
  // A node may close an idle keep-alive connection just before we use it. A lone endpoint therefore gets two attempts.
  return ordered.length === 1 ? [...ordered, ...ordered] : ordered;
}

/** Picks the error to report: retryable errors before fatal ones. */
function preferRetryable(previous: unknown, current: unknown): unknown {
  return classifyClientError(previous) === "retry" ? previous : current;
}

function isTimeout(error: unknown): boolean {
  return error instanceof ClientError && error.facts.code === "timeout";
}

function mayTryNext(error: unknown): boolean {
  return isEndpointError(error) || isBehind(error);
}

/** Whether the node has not reached the requested height. Another node may be ahead of it. */
function isBehind(error: unknown): boolean {
  return (
    error instanceof ClientError &&
    error.facts.code === "rpc" &&
    error.facts.data.includes("must be less than or equal to the current blockchain height")
  );
}

async function checkEndpoint(endpoint: PooledEndpoint, signal: AbortSignal): Promise<EndpointCheck> {
  try {
    return { name: endpoint.name, ok: true, status: await endpoint.verify(signal) };
  } catch (error) {
    if (signal.aborted) throw error;
    return { name: endpoint.name, ok: false, error };
  }
}
