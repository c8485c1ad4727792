import { fromLossyUtf8 } from "../../../platform/base/bytes.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { errorText } from "../../../platform/base/errors.ts";
import type { Logger } from "../../../platform/base/logger.ts";
import { createSendBudget } from "../../../platform/http/http-connections.ts";
import { type HttpReply, type HttpRequest, textReply } from "../../../platform/http/http-route.ts";
import { escapeHtml } from "../../../platform/web/html.ts";
import { goJsonParse } from "../base/go-decoding.ts";
import {
  createNodeHttpServer,
  NODE_HTTP_LIMITS,
  type NodeServer,
  type ServerAddress,
} from "../base/node-server.ts";
import type { Waiter } from "../base/work-queue.ts";
import * as jsonRpc from "./json-rpc.ts";
import { type CallTurn, parametersFromUri, type RpcContext, RpcError, toRpcError } from "./method.ts";
import { publishedEvents } from "./result-json.ts";
import {
  createSubscriptions,
  DEFAULT_SUBSCRIPTION_LIMITS,
  type SubscriptionLimits,
} from "./subscriptions.ts";
import { createWebSocketRpc, DEFAULT_WEBSOCKET, type WebSocketOptions } from "./websocket-rpc.ts";

export interface RpcServerOptions {
  readonly rpc: ServerAddress;
  readonly subscriptions?: Partial<SubscriptionLimits>;
  readonly websocket?: WebSocketOptions;
}

export interface RpcServerDeps {
  readonly context: RpcContext;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborts when the node stops, so that `broadcast_tx_commit` stops waiting. */
  readonly signal: AbortSignal;
}

/** Creates the CometBFT RPC server, with JSON-RPC, URI calls, WebSocket and the index page on one port. */
export function createRpcServer(options: RpcServerOptions, deps: RpcServerDeps): NodeServer {
  const { context, logger, signal } = deps;
  const limits = { ...DEFAULT_SUBSCRIPTION_LIMITS, ...options.subscriptions };
  const subscriptions = createSubscriptions(limits, {
    monotonicMs: deps.clock.monotonicMs,
    schedule: (task) => void setImmediate(task),
  });
  // HTTP and WebSocket responses share one budget for unsent bytes.
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
  const handle = (request: HttpRequest, body: Uint8Array) => {
    const isGone = (): boolean => request.signal.aborted;
    return route(request, body, context, { signal, waiter: { isGone, budget } });
  };
  const http = createNodeHttpServer("rpc", options.rpc, { handle, upgrade: websocket.upgrade, budget }, deps);
  return {
    name: http.name,
    listen: http.listen,
    close: async () => {
      stopPublishing();
      // Close the WebSockets first, because the HTTP server waits for their connections but does not close them.
      websocket.close();
      await http.close();
    },
  };
}

/** Maximum number of requests in a batch, as in CometBFT's default for `max_request_batch_size`. */
const MAX_BATCH = 10;

/** Routes a request by its path and body. As in CometBFT, the HTTP method has no effect. */
function route(
  request: HttpRequest,
  body: Uint8Array,
  context: RpcContext,
  caller: Caller,
): HttpReply | Promise<HttpReply> {
  const { url, headers } = request;
  if (url.pathname === "/") {
    return body.length === 0 ? indexPage(headers.host) : callJson(fromLossyUtf8(body), context, caller);
  }
  const isForm = headers["content-type"]?.startsWith("application/x-www-form-urlencoded") === true;
  const parameters = uriParameters(url, isForm ? fromLossyUtf8(body) : "");
  return callUri(url.pathname.slice(1), parameters, context, caller);
}

interface Caller {
  readonly waiter: Waiter;
  /** Signal that aborts when the node stops. */
  readonly signal: AbortSignal;
}

async function callJson(body: string, context: RpcContext, { waiter, signal }: Caller): Promise<HttpReply> {
  let requests: readonly jsonRpc.RpcRequest[];
  try {
    const parsed = goJsonParse(body);
    requests = (Array.isArray(parsed) ? parsed : [parsed]).map(jsonRpc.parseRequest);
  } catch (error) {
    // Fail the whole batch if a single request is invalid, because Go decodes the array as one value.
    const text = `error unmarshaling request: ${errorText(error)}`;
    return jsonText(500, jsonRpc.errorResponse(undefined, new RpcError("parse", text)));
  }
  if (requests.length > MAX_BATCH) {
    const text = `batch request exceeds maximum (${MAX_BATCH}) allowed number of requests`;
    return jsonText(500, jsonRpc.errorResponse(undefined, new RpcError("invalid-request", text)));
  }
  // Skip notifications (requests without an id), because CometBFT neither calls their methods nor responds.
  const calls = requests.flatMap(({ id, method, params }) =>
    id === undefined ? [] : [{ id, method, params }],
  );
  const isWaiting = calls.some(({ method }) => jsonRpc.waitsForBlock(method));
  const limited = createLengthBound(isWaiting ? MAX_WAITING_BATCH_LENGTH : MAX_BATCH_LENGTH);
  const run = (call: (typeof calls)[number], turn: CallTurn): Promise<string> =>
    limited(call.id, () => jsonRpc.handleRequest(call, context, turn));
  const queued = (some: typeof calls): Promise<readonly string[]> =>
    context.router.queue.run(
      some.map((call) => (pause) => run(call, { signal, pause })),
      waiter,
    );
  const texts: string[] = [];
  if (!isWaiting && calls.some(({ method }) => jsonRpc.isQueued(method)))
    texts.push(...(await queued(calls)));
  else {
    for (const call of calls)
      texts.push(
        ...(jsonRpc.isQueued(call.method) ? await queued([call]) : [await run(call, jsonRpc.turnOf(signal))]),
      );
  }
  const [first] = texts;
  if (first === undefined) return { status: 200, body: "" };
  // Like CometBFT, return an array only for two or more responses, and a plain object for a batch of one.
  return jsonText(200, texts.length > 1 ? `[${texts.join(",")}]` : first);
}

/** Maximum total length of a batch's responses. If a batch exceeds the limit, its remaining calls do not run. */
const MAX_BATCH_LENGTH = 33_554_432;
/** Reduced maximum for a batch that waits for a block, because its responses stay in memory while other requests run. */
const MAX_WAITING_BATCH_LENGTH = 1_048_576;

/**
 * Returns a function that runs a batch's calls until the responses' total length exceeds `maxLength`, and then returns errors.
 */
function createLengthBound(
  maxLength: number,
): (id: jsonRpc.RpcId, call: () => Promise<string>) => Promise<string> {
  let length = 0;
  return async (id, call) => {
    const words = `the batch's responses exceed ${maxLength} bytes; request fewer or smaller pages`;
    const text = length > maxLength ? jsonRpc.errorResponse(id, new RpcError("server", words)) : await call();
    length += text.length;
    return text;
  };
}

/**
 * Calls a method by its URI, such as `/block?height=5`. Unlike a failed JSON-RPC call by POST, a failed URI call returns HTTP status
 * 500.
 */
async function callUri(
  name: string,
  search: URLSearchParams,
  context: RpcContext,
  { waiter, signal }: Caller,
): Promise<HttpReply> {
  if (jsonRpc.WEBSOCKET_METHODS.has(name))
    return jsonText(404, jsonRpc.errorResponse(jsonRpc.URI_CALL_ID, new RpcError("method-not-found")));
  const method = jsonRpc.RPC_METHODS.get(name);
  if (method === undefined) return textReply(404, "404 page not found\n");
  try {
    const parameters = jsonRpc.readParameters(
      () => parametersFromUri(method.parameters, search),
      "invalid-params",
      "http",
    );
    const call = async (turn: CallTurn) =>
      jsonText(
        200,
        jsonRpc.resultResponse(jsonRpc.URI_CALL_ID, await method.call(parameters, context, turn)),
      );
    if (!jsonRpc.isQueued(name)) return await call(jsonRpc.turnOf(signal));
    const [reply] = await context.router.queue.run([(pause) => call({ signal, pause })], waiter);
    return reply ?? jsonText(500, jsonRpc.errorResponse(jsonRpc.URI_CALL_ID, new RpcError("internal")));
  } catch (thrown) {
    return jsonText(500, jsonRpc.errorResponse(jsonRpc.URI_CALL_ID, toRpcError(thrown)));
  }
}

/** Returns parameters from the query string and a posted form. As in CometBFT's `GetParam`, the query string takes precedence. */
function uriParameters(url: URL, form: string): URLSearchParams {
  const search = new URLSearchParams(url.search);
  for (const [name, value] of new URLSearchParams(form)) {
    if (!search.has(name)) search.set(name, value);
  }
  return search;
}

function jsonText(status: number, body: string): HttpReply {
  return { status, headers: { "Content-Type": "application/json" }, body };
}

/** Returns an HTML list of methods for browsers. The HTML matches CometBFT's, including the invalid `</br>`. */
function indexPage(hostHeader: string | undefined): HttpReply {
  const host = escapeHtml(hostHeader ?? "localhost");
  const methods = [...jsonRpc.RPC_METHODS].map(
    ([name, { parameters }]) => [name, Object.keys(parameters)] as const,
  );
  const links = [...methods, ...jsonRpc.WEBSOCKET_METHODS]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, parameters]) => {
      const link = `//${host}/${name}?${parameters.map((parameter) => `${parameter}=_`).join("&")}`;
      return `<a href="${link}">${link}</a></br>`;
    });
  const body = `<html><body><br>Available endpoints:<br><br>Endpoints that require arguments:<br>${links.join("")}</body></html>`;
  return { status: 200, headers: { "Content-Type": "text/html" }, body };
}
