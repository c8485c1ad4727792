import { maxInt } from "../../platform/base/integers.ts";
import type { JsonObject } from "../../platform/base/json.ts";
import { MAX_LAG, type NodeStatus } from "./chain-client.ts";
import { type AnswerClass, answerOf, lacksHeight } from "./answers.ts";
import { ClientError, closedError } from "../client-error.ts";
import type { EndpointHealth, PooledEndpoint } from "./pooled-endpoint.ts";
import type { RpcCaller, RpcRead, RpcWork } from "./rpc-caller.ts";

export type EndpointCheck =
  | { readonly name: string; readonly ok: true; readonly status: NodeStatus }
  | { readonly name: string; readonly ok: false; readonly error: unknown };

/** Combines several endpoints for one chain behind the interface of a single endpoint, with failover. */
export interface EndpointPool extends RpcCaller {
  /** Calls a method and decodes its result. A decoding error counts against the endpoint, and the next endpoint is tried. */
  readonly read: <T>(read: RpcRead<T>, signal: AbortSignal) => Promise<T>;
  /** Like `read`, but for several calls that the same endpoint must serve. */
  readonly run: <T>(work: RpcWork<T>, signal: AbortSignal) => Promise<T>;
  /** Reads the status of all endpoints in parallel, including endpoints that are resting after a failure. */
  readonly check: (signal: AbortSignal) => Promise<readonly EndpointCheck[]>;
  readonly health: () => readonly PoolEndpointHealth[];
  /** Endpoint names, starting with the endpoint that the next read of the latest state tries first. */
  readonly order: () => readonly string[];
  /** Reports that this endpoint returned a provably wrong response. */
  readonly distrust: (endpoint: string, reason: string) => void;
}

/** An endpoint's current state, compared with the chain's other endpoints. */
export interface PoolEndpointHealth extends EndpointHealth {
  /**
   * Number of blocks that this endpoint was behind the best endpoint in the last check of all endpoints. Undefined before the first
   * check, or if this endpoint did not respond.
   */
  readonly lagBlocks: bigint | undefined;
}

/**
 * Creates a pool of `endpoints`, which are listed in order of preference.
 *
 * A read tries the endpoints one by one, in the order of `planAttempts`, until an endpoint responds or returns a final error (see
 * `answers.ts`). An endpoint that rests after a failure is tried later, but is not excluded. A read therefore never waits for a
 * rest to end. After the rest, a check in the background restores the endpoint's place in the order.
 */
export function createEndpointPool(endpoints: readonly PooledEndpoint[]): EndpointPool {
  let lags: ReadonlyMap<string, bigint> = new Map();
  const health = (): readonly PoolEndpointHealth[] =>
    endpoints.map((endpoint) => ({ ...endpoint.health(), lagBlocks: lags.get(endpoint.name) }));
  const read = async <T>(request: RpcRead<T> | RpcWork<T>, signal: AbortSignal): Promise<T> => {
    let error: unknown;
    const attempts = attemptsOf(request);
    // Check silent endpoints in the background. Otherwise, the first read after an endpoint's rest would have to wait for the
    // deadline if the node hangs.
    for (const other of attempts.slice(1)) other.probe();
    for (const endpoint of attempts) {
      try {
        return await endpoint.read(request, signal);
      } catch (thrown) {
        if (signal.aborted || !(thrown instanceof ClientError)) throw thrown;
        const value = request.onFailed?.(thrown);
        if (value !== undefined) return value;
        if (answerOf(thrown) === "final") throw thrown;
        error =
          error === undefined || PREFERENCE[answerOf(thrown)] < PREFERENCE[answerOf(error)] ? thrown : error;
        // If there is only one endpoint, ask it again after a broken connection or for a missing block, because several nodes may
        // share its address.
        if (endpoints.length === 1 && thrown.facts.code !== "unreachable" && !lacksHeight(thrown)) break;
      }
    }
    throw error ?? closedError("the client has no endpoints");
  };
  const call = (method: string, params: JsonObject, signal: AbortSignal): Promise<unknown> =>
    read({ method, params, decode: (result) => result }, signal);
  const attemptsOf = ({ method, params }: Pick<RpcRead<unknown>, "method" | "params">) => {
    const candidates = health().map((state, index) => ({
      ...state,
      isSilent: endpoints[index]?.isSilent() ?? false,
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
  return { call, read, run: read, check, close, health, order, distrust };
}

/** Returns the number of blocks that each endpoint is behind the best endpoint. Only heights from the same check are comparable. */
function lagsOf(checks: readonly EndpointCheck[]): ReadonlyMap<string, bigint> {
  const heights = checks.flatMap((one) => (one.ok ? [[one.name, one.status.latestHeight] as const] : []));
  const best = heights.map(([, height]) => height).reduce(maxInt, 0n);
  return new Map(heights.map(([name, height]) => [name, best - height]));
}

/**
 * Preference of errors if all endpoints fail. The read rejects with the least conclusive error, because an endpoint that is down
 * may have data that is missing at another endpoint.
 */
const PREFERENCE: Readonly<Record<AnswerClass, number>> = {
  "perhaps-done": 0,
  "not-now": 1,
  wrong: 2,
  "not-here": 3,
  final: 4,
};

async function checkEndpoint(endpoint: PooledEndpoint, signal: AbortSignal): Promise<EndpointCheck> {
  try {
    return { name: endpoint.name, ok: true, status: await endpoint.verify(signal) };
  } catch (error) {
    if (signal.aborted) throw error;
    return { name: endpoint.name, ok: false, error };
  }
}

/** An endpoint that a read may use, with the data that determines its place in the order. */
type Candidate = Pick<PoolEndpointHealth, "status" | "latencyMs" | "distrusted" | "lacks" | "lagBlocks"> & {
  /** True if the connection has failed and the node has not responded since then. */
  readonly isSilent: boolean;
  /** Remaining rest time after a failure, in ms. */
  readonly restMs: number;
};

/**
 * Upper limits of the latency classes, in ms. Endpoints in the same class are treated as equally fast, so their configured order
 * applies.
 */
const LATENCY_LIMITS_MS = [100, 300, 1_000, 3_000];

/**
 * Returns the endpoints' indexes in the order of attempts. Healthy endpoints come first. Healthy endpoints are followed by
 * endpoints that have pruned the requested height, are behind or catching up, cannot serve the method, are resting after failures,
 * or have not responded since a failure (in this order). Distrusted endpoints come last. Among healthy endpoints, clearly faster
 * endpoints come first. Otherwise, the configured order applies.
 */
export function planAttempts(
  candidates: readonly Candidate[],
  method: string,
  params: JsonObject,
): readonly number[] {
  const height = heightOf(params);
  const ordered = candidates
    .map((candidate, index) => ({ rank: rankOf(candidate, method, height), index }))
    .toSorted((a, b) => compare(a.rank, b.rank) || a.index - b.index)
    .map(({ index }) => index);
  // Try each endpoint only once for a broadcast, because the sender decides whether to send the bytes to the same node again.
  if (method.startsWith("broadcast_")) return ordered;
  // Several nodes may share the address of a lone endpoint, so it gets two attempts.
  return ordered.length === 1 ? [...ordered, ...ordered] : ordered;
}

function rankOf(
  { isSilent, restMs, status, latencyMs, lagBlocks, distrusted, lacks }: Candidate,
  method: string,
  height: bigint | undefined,
): readonly number[] {
  const isBehind = status?.catchingUp === true || (lagBlocks ?? 0n) > MAX_LAG;
  const hasPruned = height !== undefined && status !== undefined && status.earliestHeight > height;
  const slowness = LATENCY_LIMITS_MS.filter((limit) => (latencyMs ?? 0) >= limit).length;
  const cannot = lacks?.has(method) === true;
  return [distrusted !== undefined, isSilent, restMs, cannot, isBehind, hasPruned, slowness].map(Number);
}

/** Returns the height that a call reads, or undefined for the latest height. */
function heightOf({ height }: JsonObject): bigint | undefined {
  return typeof height === "string" && /^[1-9]\d{0,18}$/.test(height) ? BigInt(height) : undefined;
}

function compare(a: readonly number[], b: readonly number[]): number {
  return a.map((value, index) => value - (b[index] ?? 0)).find((difference) => difference !== 0) ?? 0;
}
