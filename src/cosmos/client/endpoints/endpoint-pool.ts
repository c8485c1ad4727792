import type { JsonObject } from "../../../platform/base/json.ts";
import type { NodeStatus } from "../chain-client.ts";
import { ClientError, classifyClientError, isEndpointError, isHeightUnavailable } from "../errors.ts";
import { planAttempts } from "./plan-attempts.ts";
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
  readonly health: () => readonly PoolEndpointHealth[];
  /** Names of the endpoints, the one that the next read of the latest state tries first in front. */
  readonly order: () => readonly string[];
  /** Reports that a response of this endpoint is proven to be wrong. */
  readonly distrust: (endpoint: string, reason: string) => void;
}

/** Current state of an endpoint among the others of its chain. */
export interface PoolEndpointHealth extends EndpointHealth {
  /** Blocks behind the best endpoint at the last check of all; undefined before it, and for one that did not respond. */
  readonly lagBlocks: bigint | undefined;
}

/**
 * Creates a pool. `endpoints` are in order of preference.
 *
 * A read tries the endpoints one after the other until one responds, in the order of `planAttempts`. The order never
 * excludes one, so a read never waits for the end of a rest. A JSON-RPC error is a response and ends the read; the
 * exception is an error for a height that the node does not have. A broadcast is tried once.
 */
export function createEndpointPool(endpoints: readonly PooledEndpoint[]): EndpointPool {
  let lags: ReadonlyMap<string, bigint> = new Map();
  const health = (): readonly PoolEndpointHealth[] =>
    endpoints.map((endpoint) => ({ ...endpoint.health(), lagBlocks: lags.get(endpoint.name) }));
  const read = async <T>(request: RpcRead<T>, signal: AbortSignal): Promise<T> => {
    let error: unknown;
    for (const endpoint of attemptsOf(request)) {
      try {
        return await endpoint.read(request, signal);
      } catch (thrown) {
        if (signal.aborted || !mayTryNext(thrown)) throw thrown;
        error = preferRetryable(error, thrown);
        // A second attempt at a lone endpoint makes sense after a broken connection. After a timeout it doubles the wait.
        if (endpoints.length === 1 && (isTimeout(thrown) || isHeightUnavailable(thrown))) break;
      }
    }
    throw error ?? new ClientError({ code: "closed" }, "the client has no endpoints");
  };
  const call = (method: string, params: JsonObject, signal: AbortSignal): Promise<unknown> =>
    read({ method, params, decode: (result) => result }, signal);
  const attemptsOf = ({ method, params }: Pick<RpcRead<unknown>, "method" | "params">) => {
    const candidates = health().map((state, index) => ({
      ...state,
      restMs: endpoints[index]?.restMs() ?? 0,
    }));
    return planAttempts(candidates, method, params).flatMap((index) => endpoints[index] ?? []);
  };
  const check = async (signal: AbortSignal): Promise<readonly EndpointCheck[]> => {
    const checks = await Promise.all(endpoints.map((endpoint) => checkEndpoint(endpoint, signal)));
    lags = lagsOf(checks);
    return checks;
  };
  const close = (): void => {
    for (const endpoint of endpoints) endpoint.close();
  };
  const distrust = (name: string, reason: string): void =>
    endpoints.find((endpoint) => endpoint.name === name)?.distrust(reason);
  const order = (): readonly string[] => [
    ...new Set(attemptsOf({ method: "status", params: {} }).map(({ name }) => name)),
  ];
  return { call, read, check, close, health, order, distrust };
}

/** Heights of parallel responses differ by a block now and then, so only the statuses of one check are compared. */
function lagsOf(checks: readonly EndpointCheck[]): ReadonlyMap<string, bigint> {
  const heights = checks.flatMap((one) => (one.ok ? [[one.name, one.status.latestHeight] as const] : []));
  const best = heights.reduce((most, [, height]) => (height > most ? height : most), 0n);
  return new Map(heights.map(([name, height]) => [name, best - height]));
}

/** Picks the error to report: retryable errors before fatal ones. */
function preferRetryable(previous: unknown, current: unknown): unknown {
  return classifyClientError(previous) === "retry" ? previous : current;
}

function isTimeout(error: unknown): boolean {
  return error instanceof ClientError && error.facts.code === "timeout";
}

function mayTryNext(error: unknown): boolean {
  return isEndpointError(error) || isHeightUnavailable(error);
}

async function checkEndpoint(endpoint: PooledEndpoint, signal: AbortSignal): Promise<EndpointCheck> {
  try {
    return { name: endpoint.name, ok: true, status: await endpoint.verify(signal) };
  } catch (error) {
    if (signal.aborted) throw error;
    return { name: endpoint.name, ok: false, error };
  }
}
