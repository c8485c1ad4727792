import type { JsonObject } from "../../base/json.ts";
import type { NodeStatus } from "../chain-client.ts";
import { ClientError, classifyClientError, isEndpointError } from "../errors.ts";
import type { EndpointHealth, PooledEndpoint } from "./pooled-endpoint.ts";
import type { RpcCaller, RpcRead } from "../rpc/rpc-caller.ts";

/** Outcome of asking one endpoint for its status. */
export type EndpointCheck =
  | { readonly name: string; readonly ok: true; readonly status: NodeStatus }
  | { readonly name: string; readonly ok: false; readonly error: unknown };

/** Several endpoints of one chain behind one caller. */
export interface EndpointPool extends RpcCaller {
  /** Calls and decodes; an answer that does not decode counts as an error of the endpoint. */
  readonly read: <T>(read: RpcRead<T>, signal: AbortSignal) => Promise<T>;
  /** Asks every endpoint for its status, in parallel. */
  readonly check: (signal: AbortSignal) => Promise<readonly EndpointCheck[]>;
  readonly health: () => readonly EndpointHealth[];
}

/**
 * Creates a pool over `endpoints`, which stand in order of preference. A read goes to the first that does not rest; on
 * an error of the endpoint the next one is asked, and a lone endpoint once more unless it was silent (a kept-alive
 * connection may have died unseen). Broadcasts are never repeated here. A JSON-RPC error is an answer, save "height in the future": another
 * endpoint may be ahead. When all rest they are tried all the same, so nothing waits for a rest to end.
 */
export function createEndpointPool(endpoints: readonly PooledEndpoint[]): EndpointPool {
  const read = async <T>(wanted: RpcRead<T>, signal: AbortSignal): Promise<T> => {
    let error: unknown;
    for (const endpoint of planTries(endpoints, wanted.method)) {
      try {
        return await endpoint.read(wanted, signal);
      } catch (thrown) {
        if (signal.aborted || !mayAnotherAnswer(thrown)) throw thrown;
        error = moreHopeful(error, thrown);
        if (endpoints.length === 1 && isTimeout(thrown)) break;
      }
    }
    throw error ?? new ClientError({ code: "closed" }, "there is no endpoint to ask");
  };
  const call = (method: string, params: JsonObject, signal: AbortSignal): Promise<unknown> =>
    read({ method, params, decode: (result) => result }, signal);
  const check = (signal: AbortSignal): Promise<readonly EndpointCheck[]> =>
    Promise.all(endpoints.map((endpoint) => checkOne(endpoint, signal)));
  const close = (): void => {
    for (const endpoint of endpoints) endpoint.close();
  };
  return { call, read, check, close, health: () => endpoints.map((endpoint) => endpoint.health()) };
}

/** Endpoints in the order to try: by how long they still rest, then as configured. */
function planTries(endpoints: readonly PooledEndpoint[], method: string): readonly PooledEndpoint[] {
  const ordered = endpoints.toSorted((a, b) => a.restMs() - b.restMs());
  if (method.startsWith("broadcast_")) return ordered.slice(0, 1);
  return ordered.length === 1 ? [...ordered, ...ordered] : ordered;
}

/** Of the errors of several endpoints the one to report: what may heal counts before what needs a person. */
function moreHopeful(before: unknown, now: unknown): unknown {
  return classifyClientError(before) === "retry" ? before : now;
}

/** A lone endpoint that let the deadline pass is not made to wait for again. */
function isTimeout(error: unknown): boolean {
  return error instanceof ClientError && error.facts.code === "timeout";
}

function mayAnotherAnswer(error: unknown): boolean {
  return isEndpointError(error) || isBehind(error);
}

/** CometBFT's answer for a block that it has not reached. */
function isBehind(error: unknown): boolean {
  return (
    error instanceof ClientError &&
    error.facts.code === "rpc" &&
    error.facts.data.includes("must be less than or equal to the current blockchain height")
  );
}

async function checkOne(endpoint: PooledEndpoint, signal: AbortSignal): Promise<EndpointCheck> {
  try {
    return { name: endpoint.name, ok: true, status: await endpoint.verify(signal) };
  } catch (error) {
    if (signal.aborted) throw error;
    return { name: endpoint.name, ok: false, error };
  }
}
