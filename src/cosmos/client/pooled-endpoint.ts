import { Buffer } from "node:buffer";
import { raceAbort } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";
import { isRecord } from "../../platform/base/json.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { Secret } from "../../platform/base/secret.ts";
import { backoffMs, type BackoffOptions } from "../../platform/base/waits.ts";
import type { BlockRange, NodeStatus } from "./chain-client.ts";
import { ClientError, isEndpointError } from "./errors.ts";
import type { RpcCaller, RpcRead } from "./rpc-caller.ts";
import { decodeStatus } from "./rpc-response.ts";

/** Current state of an endpoint. */
export interface EndpointHealth {
  readonly name: string;
  /** `unchecked`: no status response has arrived yet, so the chain id is unknown. */
  readonly state: "unchecked" | "good" | "down" | "wrong-chain";
  /** failures in a row; parallel failures count once */
  readonly failures: number;
  /** text of the last error, undefined in state `good` */
  readonly lastError: string | undefined;
  /** the last status response; undefined before the first one */
  readonly status: NodeStatus | undefined;
  /** time that the last status took; undefined before the first one */
  readonly latencyMs: number | undefined;
  /** Why other endpoints are preferred for some time: a response was proven to be wrong. Undefined: they are not. */
  readonly distrusted: string | undefined;
}

/** One endpoint of a pool, with a check of its chain id and a rest period after each failure. */
export interface PooledEndpoint {
  readonly name: string;
  /** Calls a method and decodes the result. Verifies the endpoint first unless its state is `good`. */
  readonly read: <T>(read: RpcRead<T>, signal: AbortSignal) => Promise<T>;
  /** Reads the status and compares the chain id. Parallel callers share one request. */
  readonly verify: (signal: AbortSignal) => Promise<NodeStatus>;
  /** Remaining rest; 0 when the endpoint does not rest. */
  readonly restMs: () => number;
  /** Makes other endpoints preferred for some time, the longer the more often it is called. A success changes nothing. */
  readonly distrust: (reason: string) => void;
  readonly health: () => EndpointHealth;
  readonly close: () => void;
}

export interface PooledEndpointOptions {
  readonly name: string;
  /** Expected chain id. Undefined accepts every chain. */
  readonly chainId: string | undefined;
  /** Rest after a failure; it grows with the failures in a row. */
  readonly rest: BackoffOptions;
}

export interface PooledEndpointDeps {
  readonly caller: RpcCaller;
  readonly clock: Pick<Clock, "monotonicMs">;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
  readonly logger: Logger;
}

/**
 * How long other endpoints are preferred after a response that was proven to be wrong. Unlike an outage it does not show in
 * the next response, so only time ends it.
 */
const DISTRUST: BackoffOptions = { minMs: 300_000, baseMs: 600_000, maxMs: 7_200_000 };

/** Creates an endpoint in state `unchecked`. */
export function createPooledEndpoint(
  options: PooledEndpointOptions,
  deps: PooledEndpointDeps,
): PooledEndpoint {
  const life = new AbortController();
  let health: Omit<EndpointHealth, "distrusted"> = {
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

  const restMs = (): number => Math.max(0, restUntilMs - deps.clock.monotonicMs());

  const recordFailure = (error: unknown): void => {
    // One outage fails all calls in flight. Only the first failure counts, otherwise a burst of calls would raise the
    // backoff to its maximum immediately.
    if (life.signal.aborted || restMs() > 0) return;
    const lastError = errorText(error);
    if (health.failures === 0)
      deps.logger.warn("endpoint failed", { endpoint: options.name, error: lastError });
    restUntilMs = deps.clock.monotonicMs() + backoffMs(health.failures, options.rest, deps.random);
    health = { ...health, state: stateAfter(error), failures: health.failures + 1, lastError };
  };

  const isDistrusted = (): boolean => deps.clock.monotonicMs() < distrust.untilMs;

  const recordWrongResponse = (reason: string): void => {
    if (isDistrusted()) return;
    deps.logger.warn("endpoint returned a wrong response, it is used after all others", {
      endpoint: options.name,
      reason,
    });
    const untilMs = deps.clock.monotonicMs() + backoffMs(distrust.count, DISTRUST, deps.random);
    distrust = { reason, count: distrust.count + 1, untilMs };
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
      requireChain(options, "status", result);
      recordSuccess();
      health = { ...health, status, latencyMs: deps.clock.monotonicMs() - startMs };
      return status;
    } catch (error) {
      recordFailure(error);
      throw error;
    } finally {
      verifying = undefined;
    }
  };

  const verify = (signal: AbortSignal): Promise<NodeStatus> => {
    // The shared request runs under `life`, so the abort of one caller does not fail the others.
    verifying ??= readStatus();
    return raceAbort(verifying, signal);
  };

  const read = async <T>({ method, params, decode, blocks }: RpcRead<T>, signal: AbortSignal): Promise<T> => {
    // After a failure another node may listen at this address, for instance after a restart with another configuration.
    // Most responses do not contain the chain id, so a node of another chain would not be noticed without this check. It may also
    // change without a failure, between two calls: then the first response with a chain id shows it.
    if (health.state !== "good") await verify(signal);
    try {
      // The status first, and both in the same turn of the event loop: they share one HTTP request, so that the same process
      // responds to both where several are behind one address.
      const [status, result] = await Promise.all([
        blocks === undefined ? undefined : verify(signal),
        deps.caller.call(method, params, signal),
      ]);
      if (blocks !== undefined && status !== undefined) requireBlocks(options.name, status, blocks);
      requireChain(options, method, result);
      return decode(result, options.name);
    } catch (error) {
      if (!signal.aborted && isEndpointError(error)) recordFailure(error);
      throw error;
    }
  };

  const close = (): void => {
    life.abort(new ClientError({ code: "closed" }, "the client is closed"));
    deps.caller.close();
  };
  return {
    name: options.name,
    read,
    verify,
    restMs,
    distrust: recordWrongResponse,
    health: () => ({ ...health, distrusted: isDistrusted() ? distrust.reason : undefined }),
    close,
  };
}

/** Throws `height-unavailable` for a node without one of these blocks. */
function requireBlocks(
  endpoint: string,
  { earliestHeight, latestHeight }: NodeStatus,
  blocks: BlockRange,
): void {
  if (earliestHeight <= blocks.from && blocks.to <= latestHeight) return;
  const height = blocks.to <= latestHeight ? blocks.from : blocks.to;
  throw new ClientError(
    { code: "height-unavailable", endpoint, height },
    `${endpoint} has the blocks ${earliestHeight} to ${latestHeight}, without block ${height}`,
  );
}

/** Where the results of these methods have the chain id. */
const CHAIN_ID_PATHS: Readonly<Record<string, readonly string[]>> = {
  status: ["node_info", "network"],
  commit: ["signed_header", "header", "chain_id"],
  header: ["header", "chain_id"],
  block: ["block", "header", "chain_id"],
};

/** Throws `wrong-chain` for a result with the id of another chain. What is malformed is left to its decoder. */
function requireChain(
  { name, chainId }: Pick<PooledEndpointOptions, "name" | "chainId">,
  method: string,
  result: unknown,
): void {
  const path = CHAIN_ID_PATHS[method];
  if (chainId === undefined || path === undefined) return;
  const found = path.reduce<unknown>(
    (value, member) => (isRecord(value) ? value[member] : undefined),
    result,
  );
  if (typeof found === "string" && found !== chainId) throw wrongChain(name, chainId, found);
}

function stateAfter(error: unknown): EndpointHealth["state"] {
  return error instanceof ClientError && error.facts.code === "wrong-chain" ? "wrong-chain" : "down";
}

function wrongChain(endpoint: string, expected: string, found: string): ClientError {
  return new ClientError(
    { code: "wrong-chain", endpoint, expected, found },
    `${endpoint} serves chain ${found}, but ${expected} was expected: check the endpoint or the chain id in the configuration`,
  );
}

/** CometBFT RPC endpoint of a chain. */
export interface Endpoint {
  /** `http://…` or `https://…`, optionally with a path and `user:password@`. Messages never contain it, because it may contain a secret. */
  readonly url: string;
  /** Sent as `Authorization: Bearer …`. */
  readonly bearerToken?: Secret;
  /** Name in messages and metrics. Default: the URL's host and port. */
  readonly name?: string;
}

/** An endpoint's URL, split for the HTTP and WebSocket transports. */
export interface ParsedEndpoint {
  readonly name: string;
  readonly origin: string;
  /** path and query, at least "/" */
  readonly path: string;
  readonly webSocketUrl: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Splits an endpoint's URL. Throws `bad-endpoint` when it is not an http(s) URL. */
export function parseEndpoint(endpoint: Endpoint): ParsedEndpoint {
  const url = toUrl(endpoint);
  const base = url.pathname.replace(/\/+$/, "");
  const scheme = url.protocol === "https:" ? "wss:" : "ws:";
  return {
    name: endpoint.name ?? url.host,
    origin: url.origin,
    path: `${base === "" ? "/" : base}${url.search}`,
    webSocketUrl: `${scheme}//${url.host}${base}/websocket${url.search}`,
    headers: authorization(url, endpoint.bearerToken),
  };
}

function toUrl(endpoint: Endpoint): URL {
  const url = URL.canParse(endpoint.url) ? new URL(endpoint.url) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    const name = endpoint.name ?? "rpc endpoint";
    throw new ClientError(
      { code: "bad-endpoint", endpoint: name },
      `${name} is not an http:// or https:// URL`,
    );
  }
  return url;
}

function authorization(url: URL, token: Secret | undefined): Readonly<Record<string, string>> {
  if (token !== undefined) return { authorization: `Bearer ${token.reveal()}` };
  if (url.username === "") return {};
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { authorization: `Basic ${Buffer.from(credentials, "utf8").toString("base64")}` };
}
