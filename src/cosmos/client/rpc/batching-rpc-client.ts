import type { JsonObject } from "../../../platform/base/json.ts";
import { ClientError } from "../errors.ts";
import { createPendingCall, type PendingCall } from "./pending-call.ts";
import { type BatchDeps, type BatchOptions, planRequests, sendBatch } from "./request-batch.ts";
import type { RpcCaller, RpcOutcome } from "./rpc-caller.ts";

/** Limits of a batching client. */
export interface BatchingOptions extends BatchOptions {
  /** Largest number of calls in one request; see {@link planRequests}. */
  readonly maxBatch: number;
  /** Largest number of pending calls. A further call rejects with `overloaded`. */
  readonly maxPending: number;
}

/** Creates a JSON-RPC client that sends all calls of one turn of the event loop in as few requests as possible. */
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
    // setImmediate runs after all microtasks, so calls that follow a few awaits in the same turn still join the batch.
    if (queue.length === 0) setImmediate(flush);
    queue.push(created);
  };

  const flush = (): void => {
    const calls = queue.filter((queued) => !queued.isSettled());
    queue = [];
    for (const batch of planRequests(calls, options.maxBatch)) void sendBatch(batch, options, deps);
  };

  const close = (): void => {
    isClosed = true;
    for (const unsettled of pending) unsettled.reject(closedError());
    deps.transport.close();
  };
  return { call, close };
}

function overloadedError({ endpoint, maxPending }: BatchingOptions): ClientError {
  return new ClientError(
    { code: "overloaded", endpoint, limit: maxPending },
    `${maxPending} calls to ${endpoint} are pending already`,
  );
}

function closedError(): ClientError {
  return new ClientError({ code: "closed" }, "the client is closed");
}
