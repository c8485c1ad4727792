import { Buffer } from "node:buffer";
import type { Clock } from "../../base/clock.ts";
import type { JsonObject } from "../../base/json.ts";
import { type HttpAnswer, type HttpRequest, plainAnswer } from "../http/http-listener.ts";
import { goJsonParse } from "./go-decoding.ts";
import {
  answerRequest,
  badAnswer,
  goodAnswer,
  parseRequest,
  type RpcRequest,
  readParameters,
  RPC_METHODS,
} from "./json-rpc.ts";
import type { RpcContext } from "./method.ts";
import { parametersFromUri } from "./parameters.ts";
import { RpcError, toRpcError } from "./rpc-error.ts";

/** Requests in one batch, CometBFT's default. */
const MAX_BATCH = 10;

/** Methods that only a WebSocket has. */
export const WEBSOCKET_METHODS: ReadonlySet<string> = new Set([
  "subscribe",
  "unsubscribe",
  "unsubscribe_all",
]);

/** Id of answers to URI calls and to requests that could not be read. */
const NO_ID = -1;

/** Answers one HTTP request to the RPC port: index page, URI call, or JSON-RPC single and batch. */
export function createHttpRpc(
  context: RpcContext,
  clock: Clock,
  signal: AbortSignal,
): (request: HttpRequest) => Promise<HttpAnswer> {
  return async (request) => {
    const answer = await route(request, context, signal);
    return {
      ...answer,
      headers: { ...answer.headers, "X-Server-Time": String(Math.floor(clock.nowMs() / 1000)) },
    };
  };
}

async function route(request: HttpRequest, context: RpcContext, signal: AbortSignal): Promise<HttpAnswer> {
  const { pathname } = request.url;
  if (pathname !== "/") return callUri(request, context, signal);
  if (request.body.length === 0)
    return { status: 200, headers: { "Content-Type": "text/html" }, body: indexPage(request) };
  return callJson(Buffer.from(request.body).toString("utf8"), context, signal);
}

async function callJson(body: string, context: RpcContext, signal: AbortSignal): Promise<HttpAnswer> {
  let requests: readonly RpcRequest[];
  let isBatch: boolean;
  try {
    const parsed = goJsonParse(body);
    isBatch = Array.isArray(parsed);
    requests = (Array.isArray(parsed) ? parsed : [parsed]).map(parseRequest);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return json(500, badAnswer(NO_ID, new RpcError("parse", `error unmarshaling request: ${text}`)));
  }
  if (requests.length > MAX_BATCH) {
    const text = `batch request exceeds maximum (${MAX_BATCH}) allowed number of requests`;
    return json(500, badAnswer(NO_ID, new RpcError("invalid-request", text)));
  }
  const answers: JsonObject[] = [];
  for (const { id, method, params } of requests) {
    if (id !== undefined) answers.push(await answerRequest({ id, method, params }, context, signal));
  }
  const [first] = answers;
  if (first === undefined) return { status: 200, body: "" };
  return json(200, isBatch && answers.length > 1 ? answers : first);
}

async function callUri(request: HttpRequest, context: RpcContext, signal: AbortSignal): Promise<HttpAnswer> {
  const name = request.url.pathname.slice(1);
  if (WEBSOCKET_METHODS.has(name)) return json(404, badAnswer(NO_ID, new RpcError("method-not-found")));
  const method = RPC_METHODS.get(name);
  if (method === undefined) return plainAnswer(404, "404 page not found");
  try {
    const search = uriParameters(request);
    const read = () => parametersFromUri(method.parameters, search);
    const parameters = readParameters(read, "invalid-params", "http");
    return json(200, goodAnswer(NO_ID, await method.call(parameters, context, signal)));
  } catch (thrown) {
    const error = toRpcError(thrown);
    if (error === undefined) throw thrown;
    return json(500, badAnswer(NO_ID, error));
  }
}

/** Parameters of the query string; a form posted to the same path counts too. */
function uriParameters(request: HttpRequest): URLSearchParams {
  const search = new URLSearchParams(request.url.search);
  const isForm = request.headers["content-type"]?.startsWith("application/x-www-form-urlencoded") === true;
  if (!isForm) return search;
  for (const [name, value] of new URLSearchParams(Buffer.from(request.body).toString("utf8"))) {
    if (!search.has(name)) search.set(name, value);
  }
  return search;
}

function json(status: number, value: JsonObject | readonly JsonObject[]): HttpAnswer {
  return { status, headers: { "Content-Type": "application/json" }, body: JSON.stringify(value) };
}

/** The list of methods that a browser sees. */
function indexPage(request: HttpRequest): string {
  const host = escapeHtml(request.headers.host ?? "localhost");
  const links = [...RPC_METHODS]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { parameters }]) => {
      const link = `//${host}/${name}?${parameters.map(([parameter]) => `${parameter}=_`).join("&")}`;
      return `<a href="${link}">${link}</a></br>`;
    });
  return `<html><body><br>Available endpoints:<br><br>Endpoints that require arguments:<br>${links.join("")}</body></html>`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
