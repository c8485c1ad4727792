import { fromLossyUtf8 } from "../../../platform/base/bytes.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { errorText } from "../../../platform/base/errors.ts";
import type { JsonObject } from "../../../platform/base/json.ts";
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
import {
  errorResponse,
  handleRequest,
  isSearch,
  URI_CALL_ID,
  parseRequest,
  readParameters,
  resultResponse,
  RPC_METHODS,
  type RpcRequest,
  WEBSOCKET_METHODS,
} from "./json-rpc.ts";
import { parametersFromUri, type RpcContext } from "./method.ts";
import { publishedEvents } from "./published-events.ts";
import { RpcError, toRpcError } from "./rpc-error.ts";
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
  /** Aborts when the node stops. Ends the waits of `broadcast_tx_commit`. */
  readonly signal: AbortSignal;
}

/** Creates the CometBFT RPC: JSON-RPC, URI calls, WebSocket and the index page on one port. */
export function createRpcServer(options: RpcServerOptions, deps: RpcServerDeps): NodeServer {
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

/** CometBFT's default for `max_request_batch_size`. */
const MAX_BATCH = 10;

/** Creates the handler of the RPC port: index page, URI calls, single and batched JSON-RPC requests. */
function createHttpRpc(
  context: RpcContext,
  clock: Clock,
  signal: AbortSignal,
): (request: HttpRequest) => Promise<HttpReply> {
  return async (request) => {
    const reply = await route(request, await request.readBody(), context, signal);
    const serverTime = String(Math.floor(clock.nowMs() / 1000));
    return { ...reply, headers: { ...reply.headers, "X-Server-Time": serverTime } };
  };
}

/** The HTTP method does not matter, as in CometBFT: the path and the body decide. */
function route(
  request: HttpRequest,
  body: Uint8Array,
  context: RpcContext,
  signal: AbortSignal,
): HttpReply | Promise<HttpReply> {
  const { url, headers } = request;
  const isGone = (): boolean => request.signal.aborted;
  if (url.pathname === "/") {
    return body.length === 0
      ? indexPage(headers.host)
      : callJson(fromLossyUtf8(body), context, signal, isGone);
  }
  const isForm = headers["content-type"]?.startsWith("application/x-www-form-urlencoded") === true;
  const parameters = uriParameters(url, isForm ? fromLossyUtf8(body) : "");
  return callUri(url.pathname.slice(1), parameters, context, { signal, isGone });
}

async function callJson(
  body: string,
  context: RpcContext,
  signal: AbortSignal,
  isGone: () => boolean,
): Promise<HttpReply> {
  let requests: readonly RpcRequest[];
  try {
    const parsed = goJsonParse(body);
    requests = (Array.isArray(parsed) ? parsed : [parsed]).map(parseRequest);
  } catch (error) {
    // One unreadable request fails the complete batch: Go decodes the array as one value.
    const text = `error unmarshaling request: ${errorText(error)}`;
    return json(500, errorResponse(undefined, new RpcError("parse", text)));
  }
  if (requests.length > MAX_BATCH) {
    const text = `batch request exceeds maximum (${MAX_BATCH}) allowed number of requests`;
    return json(500, errorResponse(undefined, new RpcError("invalid-request", text)));
  }
  const calls = requests.flatMap(({ id, method, params }) =>
    // A notification (no id) gets no response. CometBFT does not even call the method.
    id === undefined ? [] : [() => handleRequest({ id, method, params }, context, signal)],
  );
  const { searches } = context.router;
  const print = createBatchPrinter();
  const texts = requests.some(isSearch)
    ? await searches.run(
        calls.map((call) => async () => print(await call())),
        isGone,
      )
    : await runInTurns(calls.map((call) => async () => print(await call())));
  const [first] = texts;
  if (first === undefined) return { status: 200, body: "" };
  // CometBFT writes an array only for two or more responses: a batch of one gets a plain object.
  return jsonText(200, texts.length > 1 ? `[${texts.join(",")}]` : first);
}

/** Runs calls in order, each in a turn of its own of the event loop. */
async function runInTurns<T>(calls: readonly (() => Promise<T>)[]): Promise<readonly T[]> {
  const results: T[] = [];
  for (const [index, call] of calls.entries()) {
    if (index > 0) await new Promise((resolve) => setImmediate(resolve));
    results.push(await call());
  }
  return results;
}

/** Length of the responses of a batch above which the node leaves out further ones. */
const MAX_BATCH_LENGTH = 67_108_864;

/** Prints the responses of a batch as soon as they exist: the text takes less memory than the objects. */
function createBatchPrinter(): (response: JsonObject) => string {
  let length = 0;
  return (response) => {
    const { id } = response;
    const isFull = length > MAX_BATCH_LENGTH && (typeof id === "string" || typeof id === "number");
    const words = `the responses of the batch are longer than ${MAX_BATCH_LENGTH} bytes: ask for fewer or smaller pages`;
    const text = JSON.stringify(isFull ? errorResponse(id, new RpcError("server", words)) : response);
    length += text.length;
    return text;
  };
}

/** Calls a method by its path, `/block?height=5`. Unlike JSON-RPC over POST, a failed call has HTTP status 500. */
async function callUri(
  name: string,
  search: URLSearchParams,
  context: RpcContext,
  { signal, isGone }: { readonly signal: AbortSignal; readonly isGone: () => boolean },
): Promise<HttpReply> {
  if (WEBSOCKET_METHODS.has(name))
    return json(404, errorResponse(URI_CALL_ID, new RpcError("method-not-found")));
  const method = RPC_METHODS.get(name);
  if (method === undefined) return textReply(404, "404 page not found\n");
  try {
    const parameters = readParameters(
      () => parametersFromUri(method.parameters, search),
      "invalid-params",
      "http",
    );
    const call = async () =>
      json(200, resultResponse(URI_CALL_ID, await method.call(parameters, context, signal)));
    if (!isSearch({ method: name, params: { path: parameters.text("path") } })) return await call();
    const [reply] = await context.router.searches.run([call], isGone);
    if (reply !== undefined) return reply;
    return json(500, errorResponse(URI_CALL_ID, new RpcError("internal")));
  } catch (thrown) {
    const error = toRpcError(thrown);
    if (error === undefined) throw thrown;
    return json(500, errorResponse(URI_CALL_ID, error));
  }
}

/** Parameters of the query string and of a posted form. The query string wins, as in CometBFT's `GetParam`. */
function uriParameters(url: URL, form: string): URLSearchParams {
  const search = new URLSearchParams(url.search);
  for (const [name, value] of new URLSearchParams(form)) {
    if (!search.has(name)) search.set(name, value);
  }
  return search;
}

function json(status: number, value: JsonObject): HttpReply {
  return jsonText(status, JSON.stringify(value));
}

function jsonText(status: number, body: string): HttpReply {
  return { status, headers: { "Content-Type": "application/json" }, body };
}

/** The list of methods for a browser, with the HTML of CometBFT, including its invalid `</br>`. */
function indexPage(hostHeader: string | undefined): HttpReply {
  const host = escapeHtml(hostHeader ?? "localhost");
  const methods = [...RPC_METHODS].map(
    ([name, { parameters }]) => [name, parameters.map(([parameter]) => parameter)] as const,
  );
  const links = [...methods, ...WEBSOCKET_METHODS]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, parameters]) => {
      const link = `//${host}/${name}?${parameters.map((parameter) => `${parameter}=_`).join("&")}`;
      return `<a href="${link}">${link}</a></br>`;
    });
  const body = `<html><body><br>Available endpoints:<br><br>Endpoints that require arguments:<br>${links.join("")}</body></html>`;
  return { status: 200, headers: { "Content-Type": "text/html" }, body };
}
