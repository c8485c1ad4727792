import { Buffer } from "node:buffer";
import { errorText } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { messageToJson } from "../../proto/json.ts";
import type { CallRouter, UnaryReply } from "../grpc/call-router.ts";
import { BLOCK_HEIGHT_KEY } from "../grpc/block-height.ts";
import { GRPC } from "../grpc/grpc-status.ts";
import { type HttpAnswer, type HttpRequest, plainAnswer } from "../http/http-listener.ts";
import { type FormValues, goUnescape, joinForms, parseForm } from "./form.ts";
import { httpStatusOf } from "./http-status.ts";
import { buildRequest } from "./request-message.ts";
import { createRouteTable, type FoundRoute, type RouteTable } from "./route-table.ts";

/** What a gateway needs. */
export interface GatewayDeps {
  readonly router: CallRouter;
  readonly chainName: string;
  readonly logger: Logger;
}

/** Answers REST requests by the gRPC methods behind them, as the SDK's grpc-gateway does. */
export function createGateway(deps: GatewayDeps): (request: HttpRequest) => HttpAnswer {
  const table = createRouteTable(deps.router.paths, deps.chainName);
  return (request) => {
    const { pathname } = request.url;
    const segments = pathSegments(pathname);
    if (segments === undefined) return plainAnswer(400, "400 Bad Request");
    const found =
      findRoute(table, request, segments) ??
      // The gateway splits after it decodes, so that a slash of an IBC denomination splits a value of the path in two. Only
      // when no route fits, `%2F` stays inside its value.
      findRoute(table, request, pathname.slice(1).split("/").map(unescapeSegment));
    return found === undefined
      ? failure(GRPC.unimplemented, "Not Implemented")
      : answer(found, request, deps);
  };
}

function pathSegments(pathname: string): readonly string[] | undefined {
  try {
    return goUnescape(pathname, false).slice(1).split("/");
  } catch {
    return undefined;
  }
}

function unescapeSegment(segment: string): string {
  return goUnescape(segment, false);
}

/** A form posted to a path that only answers GET is taken as its query: for queries too long for a URL. */
function findRoute(
  table: RouteTable,
  request: HttpRequest,
  segments: readonly string[],
): FoundRoute | undefined {
  // A last segment that begins with a colon would be a verb of nothing.
  if (segments.at(-1)?.startsWith(":") === true) return undefined;
  const found = table.find(request.method, segments);
  return found === undefined && isPostedForm(request) ? table.find("GET", segments) : found;
}

function isPostedForm({ method, headers }: HttpRequest): boolean {
  return method === "POST" && headers["content-type"] === "application/x-www-form-urlencoded";
}

function answer(found: FoundRoute, request: HttpRequest, deps: GatewayDeps): HttpAnswer {
  const { route } = found;
  const form = (): FormValues => {
    const query = parseForm(request.url.search.slice(1));
    return isPostedForm(request) ? joinForms(parseForm(Buffer.from(request.body).toString()), query) : query;
  };
  let data: Uint8Array;
  try {
    data = buildRequest(found, { form, body: request.body, chainName: deps.chainName });
  } catch (thrown) {
    return failure(GRPC.invalidArgument, errorMessage(thrown));
  }
  const reply = deps.router.call({ path: route.path, data, heights: wantedHeights(request) });
  const headers = heightHeaders(reply);
  if (reply.code !== GRPC.ok) return failure(reply.code, reply.message, headers);
  try {
    const body = JSON.stringify(messageToJson(route.responseType, reply.value, deps.chainName));
    return json(200, body, headers);
  } catch (thrown) {
    deps.logger.error("answer has no json form", { path: route.path, error: errorText(thrown) });
    return failure(GRPC.internal, errorMessage(thrown), headers);
  }
}

function errorMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Heights asked for by header, plain or with the gateway's prefix. */
function wantedHeights({ headers }: HttpRequest): readonly string[] {
  return [BLOCK_HEIGHT_KEY, `grpc-metadata-${BLOCK_HEIGHT_KEY}`].flatMap((name) => {
    const value = headers[name];
    if (value === undefined) return [];
    return typeof value === "string" ? value.split(", ") : value;
  });
}

function heightHeaders({ height }: UnaryReply): Readonly<Record<string, string>> {
  return height === undefined ? {} : { "Grpc-Metadata-X-Cosmos-Block-Height": height.toString() };
}

function failure(code: number, message: string, headers: Readonly<Record<string, string>> = {}): HttpAnswer {
  return json(httpStatusOf(code), JSON.stringify({ code, message, details: [] }), headers);
}

function json(status: number, body: string, headers: Readonly<Record<string, string>>): HttpAnswer {
  return { status, headers: { "Content-Type": "application/json", ...headers }, body };
}
