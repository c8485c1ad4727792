import type { Clock } from "../../../platform/base/clock.ts";
import type { Logger } from "../../../platform/base/logger.ts";
import { createSendBudget } from "../../../platform/http/http-connections.ts";
import { createNodeHttpServer, NODE_HTTP_LIMITS } from "../node-http-server.ts";
import type { NodeOptions } from "../node-options.ts";
import type { NodeServer } from "../node-server.ts";
import { createHttpRpc } from "./http-rpc.ts";
import type { RpcContext } from "./method.ts";
import { publishedEvents } from "./published-events.ts";
import { createSubscriptions, DEFAULT_SUBSCRIPTION_LIMITS } from "./subscriptions.ts";
import { createWebSocketRpc, DEFAULT_WEBSOCKET } from "./websocket-rpc.ts";

export interface RpcServerDeps {
  readonly context: RpcContext;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborts when the node stops. Ends the waits of `broadcast_tx_commit`. */
  readonly signal: AbortSignal;
}

/** Creates the CometBFT RPC: JSON-RPC, URI calls, WebSocket and the index page on one port. */
export function createRpcServer(
  options: Pick<NodeOptions, "rpc" | "subscriptions" | "websocket">,
  deps: RpcServerDeps,
): NodeServer {
  const { context, logger, signal } = deps;
  const limits = { ...DEFAULT_SUBSCRIPTION_LIMITS, ...options.subscriptions };
  const subscriptions = createSubscriptions(limits, {
    monotonicMs: deps.clock.monotonicMs,
    schedule: (task) => void setImmediate(task),
  });
  // One budget for HTTP and WebSocket.
  const budget = createSendBudget(NODE_HTTP_LIMITS.maxUnsentBytes);
  const websocket = createWebSocketRpc(options.websocket ?? DEFAULT_WEBSOCKET, {
    context,
    subscriptions,
    budget,
    logger,
    signal,
  });
  const stopPublishing = context.view.onBlock((block, results) => {
    if (subscriptions.count() === 0) return;
    const params = context.genesis.consensusParams;
    subscriptions.publish(publishedEvents({ block, results, params }));
  });
  const handle = createHttpRpc(context, deps.clock, signal);
  const http = createNodeHttpServer(
    "rpc",
    options.rpc,
    { handle, upgrade: websocket.upgrade, budget },
    { logger },
  );
  return {
    name: http.name,
    listen: http.listen,
    close: async () => {
      stopPublishing();
      // WebSockets close first. The close of the HTTP server waits for their connections and does not cut them.
      websocket.close();
      await http.close();
    },
  };
}
