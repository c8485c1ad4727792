import { raceAbort } from "../../base/abort.ts";
import { type BackoffOptions, backoffMs } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import { errorText } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { NodeStatus } from "../chain-client.ts";
import { ClientError, isEndpointError } from "../errors.ts";
import { decodeStatus } from "../read/node-status.ts";
import type { RpcCaller, RpcRead } from "../rpc/rpc-caller.ts";

/** An endpoint as its pool sees it now. */
export interface EndpointHealth {
  readonly name: string;
  /** `unchecked`: its chain id was not asked yet. */
  readonly state: "unchecked" | "good" | "down" | "wrong-chain";
  /** rests in a row */
  readonly failures: number;
  /** text of the last error, undefined while it is good */
  readonly lastError: string | undefined;
}

/** One endpoint of a pool: knows whether its chain is the right one and how long it rests after an error. */
export interface PooledEndpoint {
  readonly name: string;
  /** Calls and decodes, after its chain id was checked (once, and again after every error). */
  readonly read: <T>(read: RpcRead<T>, signal: AbortSignal) => Promise<T>;
  /** Asks for the status and judges it; shared by all who ask at the same time. */
  readonly verify: (signal: AbortSignal) => Promise<NodeStatus>;
  /** How much longer it had better be left alone, ms; 0 when it may be used. */
  readonly restMs: () => number;
  readonly health: () => EndpointHealth;
  readonly close: () => void;
}

/** How an endpoint is judged. */
export interface PooledEndpointOptions {
  readonly name: string;
  /** Must be what `status` says; undefined: any chain will do. */
  readonly chainId: string | undefined;
  /** Rest after an error, growing while it goes on. */
  readonly rest: BackoffOptions;
}

/** What a pooled endpoint needs from its surroundings. */
export interface PooledEndpointDeps {
  readonly caller: RpcCaller;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly random: () => number;
  readonly logger: Logger;
}

/** Creates a pooled endpoint in the state `unchecked`. */
export function createPooledEndpoint(
  options: PooledEndpointOptions,
  deps: PooledEndpointDeps,
): PooledEndpoint {
  const life = new AbortController();
  let health: EndpointHealth = { name: options.name, state: "unchecked", failures: 0, lastError: undefined };
  let restUntilMs = 0;
  let verifying: Promise<NodeStatus> | undefined;

  const restMs = (): number => Math.max(0, restUntilMs - deps.clock.monotonicMs());

  /** Errors of calls that were under way together count once. */
  const noteFailure = (error: unknown): void => {
    if (life.signal.aborted || restMs() > 0) return;
    const lastError = errorText(error);
    if (health.failures === 0)
      deps.logger.warn("endpoint failed", { endpoint: options.name, error: lastError });
    restUntilMs = deps.clock.monotonicMs() + backoffMs(health.failures, options.rest, deps.random);
    health = { ...health, state: stateAfter(error), failures: health.failures + 1, lastError };
  };

  const noteGood = (): void => {
    if (health.failures > 0) deps.logger.info("endpoint is good again", { endpoint: options.name });
    restUntilMs = 0;
    health = { name: options.name, state: "good", failures: 0, lastError: undefined };
  };

  const readStatus = async (): Promise<NodeStatus> => {
    try {
      const status = decodeStatus(await deps.caller.call("status", {}, life.signal), options.name);
      if (options.chainId !== undefined && status.chainId !== options.chainId)
        throw wrongChain(options.name, options.chainId, status.chainId);
      noteGood();
      return status;
    } catch (error) {
      noteFailure(error);
      throw error;
    } finally {
      verifying = undefined;
    }
  };

  const verify = (signal: AbortSignal): Promise<NodeStatus> => {
    verifying ??= readStatus();
    return raceAbort(verifying, signal);
  };

  const read = async <T>({ method, params, decode }: RpcRead<T>, signal: AbortSignal): Promise<T> => {
    if (health.state !== "good") await verify(signal);
    try {
      return decode(await deps.caller.call(method, params, signal), options.name);
    } catch (error) {
      if (!signal.aborted && isEndpointError(error)) noteFailure(error);
      throw error;
    }
  };

  const close = (): void => {
    life.abort(new ClientError({ code: "closed" }, "the client is closed"));
    deps.caller.close();
  };
  return { name: options.name, read, verify, restMs, health: () => health, close };
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
