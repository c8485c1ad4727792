import { Buffer } from "node:buffer";
import type { Clock } from "../../../platform/base/clock.ts";
import { errorText } from "../../../platform/base/errors.ts";
import type { JsonObject } from "../../../platform/base/json.ts";
import { escapeHtml } from "../../../platform/web/html-escape.ts";
import { type HttpReply, type HttpRequest, textReply } from "../../../platform/http/http-route.ts";
import { goJsonParse } from "./go-decoding.ts";
import {
  handleRequest,
  errorResponse,
  NO_ID,
  parseRequest,
  type RpcRequest,
  readParameters,
  resultResponse,
  RPC_METHODS,
  WEBSOCKET_METHODS,
} from "./json-rpc.ts";
import type { RpcContext } from "./method.ts";
import { parametersFromUri } from "./parameters.ts";
import { RpcError, toRpcError } from "./rpc-error.ts";

/** CometBFT's default for `max_request_batch_size`. */
const MAX_BATCH = 10;

/** Creates the handler of the RPC port: index page, URI calls, single and batched JSON-RPC requests. */
export function createHttpRpc(
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
  { url, headers }: HttpRequest,
  body: Uint8Array,
  context: RpcContext,
  signal: AbortSignal,
): HttpReply | Promise<HttpReply> {
  if (url.pathname === "/") {
    return body.length === 0 ? indexPage(headers.host) : callJson(toText(body), context, signal);
  }
  const isForm = headers["content-type"]?.startsWith("application/x-www-form-urlencoded") === true;
  const parameters = uriParameters(url, isForm ? toText(body) : "");
  return callUri(url.pathname.slice(1), parameters, context, signal);
}

function toText(body: Uint8Array): string {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
}

async function callJson(body: string, context: RpcContext, signal: AbortSignal): Promise<HttpReply> {
  let requests: readonly RpcRequest[];
  try {
    const parsed = goJsonParse(body);
    requests = (Array.isArray(parsed) ? parsed : [parsed]).map(parseRequest);
  } catch (error) {
    // One unreadable request fails the complete batch: Go decodes the array as one value.
    const text = `error unmarshaling request: ${errorText(error)}`;
    return json(500, errorResponse(NO_ID, new RpcError("parse", text)));
  }
  if (requests.length > MAX_BATCH) {
    const text = `batch request exceeds maximum (${MAX_BATCH}) allowed number of requests`;
    return json(500, errorResponse(NO_ID, new RpcError("invalid-request", text)));
  }
  const responses: JsonObject[] = [];
  for (const { id, method, params } of requests) {
    // A notification (no id) gets no response. CometBFT does not even call the method.
    if (id !== undefined) responses.push(await handleRequest({ id, method, params }, context, signal));
  }
  const [first] = responses;
  if (first === undefined) return { status: 200, body: "" };
  // CometBFT writes an array only for two or more responses: a batch of one gets a plain object.
  return json(200, responses.length > 1 ? responses : first);
}

/** Calls a method by its path, `/block?height=5`. Unlike JSON-RPC over POST, a failed call has HTTP status 500. */
async function callUri(
  name: string,
  search: URLSearchParams,
  context: RpcContext,
  signal: AbortSignal,
): Promise<HttpReply> {
  if (WEBSOCKET_METHODS.has(name)) return json(404, errorResponse(NO_ID, new RpcError("method-not-found")));
  const method = RPC_METHODS.get(name);
  if (method === undefined) return textReply(404, "404 page not found\n");
  try {
    const parameters = readParameters(
      () => parametersFromUri(method.parameters, search),
      "invalid-params",
      "http",
    );
    return json(200, resultResponse(NO_ID, await method.call(parameters, context, signal)));
  } catch (thrown) {
    const error = toRpcError(thrown);
    if (error === undefined) throw thrown;
    return json(500, errorResponse(NO_ID, error));
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

function json(status: number, value: JsonObject | readonly JsonObject[]): HttpReply {
  return { status, headers: { "Content-Type": "application/json" }, body: JSON.stringify(value) };
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
