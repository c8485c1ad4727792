import type { JsonObject } from "../../base/json.ts";
import { ClientError } from "../errors.ts";
import { createPendingCall, type PendingCall } from "./pending-call.ts";
import { type BatchDeps, type BatchOptions, planRequests, sendBatch } from "./request-batch.ts";
import type { RpcCaller, RpcOutcome } from "./rpc-caller.ts";

/** Bounds of a batching client. */
export interface BatchingOptions extends BatchOptions {
  /** Calls in one request; CometBFT refuses more than 10 (`max_request_batch_size`). */
  readonly maxBatch: number;
  /** Calls that may wait at once; one more is refused with `overloaded`. */
  readonly maxPending: number;
}

/**
 * Creates a JSON-RPC client that puts calls made in the same turn of the event loop into batches. Broadcasts travel
 * alone, so that no other call's error can hide what became of them. A batch whose answer is too large is halved.
 */
export function createBatchingRpcClient(options: BatchingOptions, deps: BatchDeps): RpcCaller {
  const pending = new Set<PendingCall>();
  let queue: PendingCall[] = [];
  let nextId = 1;
  let isClosed = false;

  const call = (method: string, params: JsonObject, signal: AbortSignal): Promise<unknown> => {
    if (isClosed) return Promise.reject(closedError());
    if (pending.size >= options.maxPending) return Promise.reject(overloadedError(options));
    return new Promise((resolve, reject) => {
      const startedMs = deps.clock.monotonicMs();
      const onSettled = (settled: PendingCall, outcome: RpcOutcome): void => {
        pending.delete(settled);
        const durationMs = deps.clock.monotonicMs() - startedMs;
        deps.observer.onCall({ endpoint: options.endpoint, method, outcome, durationMs });
      };
      enqueue(createPendingCall({ id: nextId++, method, params, signal, resolve, reject, onSettled }));
    });
  };

  const enqueue = (created: PendingCall): void => {
    if (created.isSettled()) return;
    pending.add(created);
    if (queue.length === 0) setImmediate(flush);
    queue.push(created);
  };

  const flush = (): void => {
    const calls = queue.filter((waiting) => !waiting.isSettled());
    queue = [];
    for (const batch of planRequests(calls, options.maxBatch)) void sendBatch(batch, options, deps);
  };

  const close = (): void => {
    isClosed = true;
    for (const waiting of pending) waiting.reject(closedError());
    deps.transport.close();
  };
  return { call, close };
}

function overloadedError({ endpoint, maxPending }: BatchingOptions): ClientError {
  return new ClientError(
    { code: "overloaded", endpoint, limit: maxPending },
    `${maxPending} calls to ${endpoint} are waiting already`,
  );
}

function closedError(): ClientError {
  return new ClientError({ code: "closed" }, "the client is closed");
}
