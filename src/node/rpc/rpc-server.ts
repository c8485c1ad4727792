import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { createHttpListener } from "../http/http-listener.ts";
import type { NodeOptions } from "../node-options.ts";
import type { NodeServer } from "../node-view.ts";
import { createHttpRpc } from "./http-rpc.ts";
import type { RpcContext } from "./method.ts";
import { publishedEvents } from "./published-events.ts";
import { createSubscriptions, DEFAULT_SUBSCRIPTION_LIMITS } from "./subscriptions.ts";
import { createWebSocketRpc, DEFAULT_WEBSOCKET } from "./websocket-rpc.ts";

/** CometBFT's `max_body_bytes` is 1 MB; block-sized transactions in base64 need more. */
const MAX_BODY_BYTES = 4_000_000;

/** What the RPC face needs. */
export interface RpcServerDeps {
  readonly context: RpcContext;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Creates the CometBFT RPC: JSON-RPC, URI calls, WebSocket and the index page on one port. */
export function createRpcServer(
  options: Pick<NodeOptions, "rpc" | "subscriptions" | "websocket">,
  deps: RpcServerDeps,
): NodeServer {
  const { context, logger, signal } = deps;
  const subscriptions = createSubscriptions(options.subscriptions ?? DEFAULT_SUBSCRIPTION_LIMITS);
  const websocket = createWebSocketRpc(options.websocket ?? DEFAULT_WEBSOCKET, {
    context,
    subscriptions,
    logger,
    signal,
  });
  const stopListening = context.view.onBlock((block, results) => {
    if (subscriptions.count() === 0) return;
    const params = context.genesis.consensusParams;
    for (const event of publishedEvents({ block, results, params })) subscriptions.publish(event);
  });
  const listener = createHttpListener(
    { face: "rpc", ...options.rpc, maxBodyBytes: MAX_BODY_BYTES },
    { logger, answer: createHttpRpc(context, deps.clock, signal), upgrade: websocket.upgrade },
  );
  return {
    name: listener.name,
    listen: listener.listen,
    close: async () => {
      stopListening();
      websocket.close();
      await listener.close();
    },
  };
}
