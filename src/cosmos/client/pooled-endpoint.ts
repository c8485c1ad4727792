import { raceAbort } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";
import { valueAt } from "../../platform/base/json.ts";
import type { Logger } from "../../platform/base/logger.ts";
import { backoffMs, type BackoffOptions } from "../../platform/base/waits.ts";
import type { BlockRange, NodeStatus } from "./chain-client.ts";
import { type Lack, lackText, readAnswer } from "./answers.ts";
import { ClientError, closedError, heightUnavailable, requireChain } from "../client-error.ts";
import type { CallEndpoint, RpcCaller, RpcRead, RpcWork } from "./rpc-caller.ts";
import { decodeStatus } from "./rpc-response.ts";

export interface EndpointHealth {
  readonly name: string;
  /** State of the endpoint. In state `unchecked`, the chain id is unknown, because no status response has arrived yet. */
  readonly state: "unchecked" | "good" | "down" | "wrong-chain";
  /** Number of consecutive failures. Failures of parallel calls are counted as one failure. */
  readonly failures: number;
  /** Text of the last error, or undefined in state `good`. */
  readonly lastError: string | undefined;
  /** The last status response, or undefined until the endpoint has responded once. */
  readonly status: NodeStatus | undefined;
  /** Duration of the last status request, in ms, or undefined until the endpoint has responded once. */
  readonly latencyMs: number | undefined;
  /**
   * Description of the provably wrong response because of which reads currently prefer other endpoints. Undefined if the endpoint
   * is trusted.
   */
  readonly distrusted: string | undefined;
  /**
   * The RPC methods that the endpoint recently failed to serve, each with the reason. The key for oversized responses is "response
   * size". Not set if no method has failed.
   */
  readonly lacks?: ReadonlyMap<string, string> | undefined;
  /** Maximum number of calls that the endpoint accepts in one request, or undefined if unknown. */
  readonly batchSize?: number | undefined;
}

export type PooledEndpoint = ReturnType<typeof createPooledEndpoint>;

export interface PooledEndpointOptions {
  readonly name: string;
  /** Expected chain id, or undefined to accept any chain. */
  readonly chainId: string | undefined;
  /** Backoff during which the endpoint rests after a failure. The backoff grows with consecutive failures. */
  readonly rest: BackoffOptions;
}

export interface PooledEndpointDeps {
  readonly caller: RpcCaller;
  readonly clock: Pick<Clock, "monotonicMs">;
  /** Returns a random number in [0, 1). */
  readonly random: () => number;
  readonly logger: Logger;
}

/**
 * Time during which reads prefer other endpoints after a provably wrong response. The client cannot observe when an endpoint stops
 * returning wrong responses, so the endpoint is distrusted for this entire time.
 */
const DISTRUST: BackoffOptions = { minMs: 300_000, baseMs: 600_000, maxMs: 7_200_000 };

/** Time during which reads prefer other endpoints for a method that this endpoint could not serve. */
const LACK_MS = 600_000;
/** Time without a refusal after which an endpoint that refused calls despite a good status is good again. */
const REFUSAL_MS = 60_000;

/** Missing data or capabilities that affect only one request. The endpoint may still serve other requests with the same method. */
const LACKS_OF_REQUEST: readonly (Lack | undefined)[] = ["height", "transaction", "request-size"];

/**
 * Creates one endpoint of a pool, in state `unchecked`. The endpoint's chain id is checked before use, and the endpoint rests after
 * each failure.
 */
export function createPooledEndpoint(options: PooledEndpointOptions, deps: PooledEndpointDeps) {
  const life = new AbortController();
  const lacks = new Map<string, { readonly reason: string; readonly untilMs: number }>();
  /** Until this time, a successful status call does not clear the last failure, because the endpoint has refused another method. */
  let refusedUntilMs = 0;
  let isVerified = false;
  let health: Omit<EndpointHealth, "distrusted" | "lacks" | "batchSize"> = {
    name: options.name,
    state: "unchecked",
    failures: 0,
    lastError: undefined,
    status: undefined,
    latencyMs: undefined,
  };
  let restUntilMs = 0;
  let verifying: Promise<NodeStatus> | undefined;
  let distrust = { reason: "", count: 0, untilMs: 0 };

  /** Returns the endpoint's remaining rest time after a failure, in ms, or 0 if the endpoint is not resting. */
  const restMs = (): number => Math.max(0, restUntilMs - deps.clock.monotonicMs());

  /** Returns true if the connection has failed and the node has not responded since. */
  const isSilent = (): boolean => health.failures > 0 && !isVerified;

  const recordFailure = (error: ClientError, retryAfterMs = 0): void => {
    // One outage fails all calls in flight. Only the first failure is recorded, because a burst of calls would otherwise raise
    // the backoff to its maximum.
    if (life.signal.aborted || restMs() > 0) return;
    const lastError = errorText(error);
    if (health.failures === 0)
      deps.logger.warn("endpoint failed", { endpoint: options.name, error: lastError });
    const nowMs = deps.clock.monotonicMs();
    restUntilMs = nowMs + Math.max(retryAfterMs, backoffMs(health.failures, options.rest, deps.random));
    const { facts } = error;
    const isRefusal = facts.code === "rpc" && facts.method !== "status";
    refusedUntilMs = isRefusal ? restUntilMs + REFUSAL_MS : 0;
    isVerified &&= isRefusal;
    const state = facts.code === "wrong-chain" ? "wrong-chain" : "down";
    health = { ...health, state, failures: health.failures + 1, lastError };
  };

  const isDistrusted = (): boolean => deps.clock.monotonicMs() < distrust.untilMs;

  /**
   * Makes reads prefer other endpoints for a period of time. Each period is longer than the previous period. Wrong responses during
   * a period do not extend it.
   */
  const recordWrongResponse = (reason: string): void => {
    if (isDistrusted()) return;
    deps.logger.warn("endpoint returned a wrong response, it is used after all others", {
      endpoint: options.name,
      reason,
    });
    const untilMs = deps.clock.monotonicMs() + backoffMs(distrust.count, DISTRUST, deps.random);
    distrust = { reason, count: distrust.count + 1, untilMs };
  };

  /** Records an error according to its class (see `answers.ts`). */
  const recordError = (error: unknown, method: string): void => {
    if (!(error instanceof ClientError) || error.facts.code === "overloaded") return;
    const { class: answer, lack, retryAfterMs } = readAnswer(error);
    if (error.facts.code === "wrong-chain") recordFailure(error);
    else if (answer === "wrong") recordWrongResponse(errorText(error));
    // After a broadcast, a JSON-RPC error is caused by the transaction, but a closed connection or a timeout is caused by the endpoint.
    else if (answer === "not-now" || (answer === "perhaps-done" && error.facts.code !== "rpc"))
      recordFailure(error, retryAfterMs);
    else if (answer === "not-here" && !LACKS_OF_REQUEST.includes(lack)) {
      // Record an oversized response separately, because it says nothing about the method's other responses.
      const what = lack === "response-size" ? "response size" : method;
      const reason = lackText(error, "add an endpoint that can");
      if (!lacks.has(what))
        deps.logger.warn("endpoint cannot do this, other endpoints are preferred", {
          endpoint: options.name,
          what,
          reason,
        });
      lacks.set(what, { reason, untilMs: deps.clock.monotonicMs() + LACK_MS });
    }
  };

  const currentLacks = (): ReadonlyMap<string, string> | undefined => {
    const nowMs = deps.clock.monotonicMs();
    for (const [name, { untilMs }] of lacks) if (untilMs <= nowMs) lacks.delete(name);
    return lacks.size === 0 ? undefined : new Map([...lacks].map(([name, { reason }]) => [name, reason]));
  };

  const recordSuccess = (): void => {
    if (health.failures > 0) deps.logger.info("endpoint recovered", { endpoint: options.name });
    restUntilMs = 0;
    health = { ...health, state: "good", failures: 0, lastError: undefined };
  };

  const readStatus = async (): Promise<NodeStatus> => {
    const startMs = deps.clock.monotonicMs();
    try {
      const result = await deps.caller.call("status", {}, life.signal);
      const status = decodeStatus(result, options.name);
      requireChain(options.name, options.chainId, status.chainId);
      isVerified = true;
      if (deps.clock.monotonicMs() >= refusedUntilMs) recordSuccess();
      health = { ...health, status, latencyMs: deps.clock.monotonicMs() - startMs };
      return status;
    } catch (error) {
      if (error instanceof ClientError) recordFailure(error, readAnswer(error).retryAfterMs);
      throw error;
    } finally {
      verifying = undefined;
    }
  };

  /** Reads the status and checks the chain id, with one request for all parallel callers. */
  const verify = (signal: AbortSignal): Promise<NodeStatus> => {
    // The shared request runs under `life`, so one caller's abort does not fail the other callers.
    verifying ??= readStatus();
    return raceAbort(verifying, signal);
  };

  const ofChain = (method: string, result: unknown): unknown => {
    const found = chainIdIn(method, result);
    if (found !== undefined) requireChain(options.name, options.chainId, found);
    return result;
  };

  /** Calls a method and decodes the result, but first verifies the endpoint unless it has been verified since its last failure. */
  const read = async <T>(request: RpcRead<T> | RpcWork<T>, signal: AbortSignal): Promise<T> => {
    const { method, params } = request;
    // After a failure, another node may be listening at this address, e.g. after a restart with another configuration. Check the
    // chain id, because most responses do not contain it. If the node changes without a failure, the first response that contains
    // a chain id reveals the change.
    if (!isVerified) await verify(signal);
    try {
      let value: T;
      if ("run" in request) {
        const call: CallEndpoint = async (name, given) =>
          ofChain(name, await deps.caller.call(name, given, signal));
        value = await request.run(call, options.name);
      } else {
        const { blocks, decode } = request;
        // Request the status first, in the same turn of the event loop as the call. The status request and the call are then part
        // of the same HTTP request, so the same process responds to both, even if several processes share one address.
        const status = blocks === undefined ? undefined : verify(signal);
        const called = deps.caller.call(method, params, signal);
        if (blocks !== undefined && status !== undefined)
          requireBlocks(options.name, (await Promise.all([status, called]))[0], blocks);
        value = decode(ofChain(method, await called), options.name);
      }
      lacks.delete(method);
      if (health.failures > 0 && method !== "status" && restMs() === 0) recordSuccess();
      return value;
    } catch (error) {
      if (!signal.aborted) recordError(error, method);
      throw error;
    }
  };

  /** Checks in the background whether a silent endpoint responds again, once its rest has ended. */
  const probe = (): void => {
    if (isSilent() && restMs() === 0) verify(life.signal).catch(() => {});
  };

  return {
    name: options.name,
    read,
    verify,
    probe,
    isSilent,
    restMs,
    distrust: recordWrongResponse,
    health: (): EndpointHealth => ({
      ...health,
      distrusted: isDistrusted() ? distrust.reason : undefined,
      lacks: currentLacks(),
      batchSize: deps.caller.batchSize?.(),
    }),
    close: (): void => {
      life.abort(closedError());
      deps.caller.close();
    },
  };
}

/** Throws `height-unavailable` if the node lacks one of these blocks. */
function requireBlocks(
  endpoint: string,
  { earliestHeight, latestHeight }: NodeStatus,
  blocks: BlockRange,
): void {
  if (earliestHeight <= blocks.from && blocks.to <= latestHeight) return;
  const height = blocks.to <= latestHeight ? blocks.from : blocks.to;
  throw heightUnavailable(
    endpoint,
    height,
    `has blocks ${earliestHeight} to ${latestHeight}, but not block ${height}`,
  );
}

/** Paths to the chain id in the results of these methods. */
const CHAIN_ID_PATHS: Readonly<Record<string, readonly string[]>> = {
  status: ["node_info", "network"],
  commit: ["signed_header", "header", "chain_id"],
  header: ["header", "chain_id"],
  block: ["block", "header", "chain_id"],
  blockchain: ["block_metas", "0", "header", "chain_id"],
};

/**
 * Returns the chain id in a method's result, or undefined if there is none. A malformed result is rejected later, by its decoder.
 */
function chainIdIn(method: string, result: unknown): string | undefined {
  const path = CHAIN_ID_PATHS[method];
  const found = path && valueAt(result, path);
  return typeof found === "string" ? found : undefined;
}
