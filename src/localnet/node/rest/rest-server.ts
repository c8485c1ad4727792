import { Buffer } from "node:buffer";
import { messageToJson } from "../../../cosmos/proto/json.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { errorMessage, errorText } from "../../../platform/base/errors.ts";
import type { Logger } from "../../../platform/base/logger.ts";
import { createSendBudget } from "../../../platform/http/http-connections.ts";
import { type HttpReply, type HttpRequest, textReply } from "../../../platform/http/http-route.ts";
import { GrpcCode } from "../../chain/runtime/errors.ts";
import { createNodeHttpServer, NODE_HTTP_LIMITS, type ServerAddress } from "../base/node-server.ts";
import { RETRY_AFTER, type Waiter } from "../base/work-queue.ts";
import { callInQueue, type CallRouter, type ServerFactory, type UnaryReply } from "../grpc/call-router.ts";
import { BLOCK_HEIGHT_KEY } from "../grpc/node-method.ts";
import { buildRequest, type FormValues, goUnescape, joinForms, parseForm } from "./request-message.ts";
import { createRouteTable, type FoundRoute, type RouteTable } from "./route-table.ts";

export interface RestServerOptions extends ServerAddress {
  /** Chain name in the REST paths and type URLs of the chain's own modules, such as "neutron". */
  readonly chainName: string;
}

export interface RestServerDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Creates the REST server ("rest"), which serves the gRPC methods of the application and the node as JSON over HTTP. */
export function createRestServer(options: RestServerOptions, deps: RestServerDeps): ServerFactory {
  const { host, port, portOption, access, chainName } = options;
  const logger = deps.logger.child({ server: "rest" });
  return (router) => {
    const budget = createSendBudget(NODE_HTTP_LIMITS.maxUnsentBytes);
    const gateway = createGateway({ router, chainName, logger, budget });
    return createNodeHttpServer(
      "rest",
      { host, port, portOption, ...(access === undefined ? {} : { access }) },
      { handle: gateway, budget },
      deps,
    );
  };
}

/** HTTP statuses, indexed by gRPC code, as in grpc-gateway 1.16 (`runtime.HTTPStatusFromCode`). */
const HTTP_STATUS_BY_CODE: readonly number[] = [
  200, 408, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401,
];

interface GatewayDeps {
  readonly budget: Waiter["budget"];
  readonly router: CallRouter;
  readonly chainName: string;
  readonly logger: Logger;
}

type Gateway = (request: HttpRequest, body: Uint8Array) => HttpReply | Promise<HttpReply>;

/** Creates the node's REST handler. Like the SDK's grpc-gateway, the handler calls the gRPC method to which a request's path is mapped. */
export function createGateway(deps: GatewayDeps): Gateway {
  const table = createRouteTable(deps.router.paths, deps.chainName);
  return (request, body) => {
    const { pathname } = request.url;
    const segments = pathSegments(pathname);
    if (segments === undefined) return textReply(400, "400 Bad Request\n");
    // Treat an escaped slash as part of a value if a route matches. The SDK's gateway instead decodes a path before splitting it.
    // There, the slash in an IBC denomination splits the value and may select another route.
    const found =
      findRoute(
        table,
        request,
        pathname
          .slice(1)
          .split("/")
          .map((segment) => goUnescape(segment, false)),
      ) ?? findRoute(table, request, segments);
    // Like the gateway, respond to unknown paths and wrong methods with Unimplemented (HTTP 501), never with 404 or 405.
    if (found === undefined) return failure(GrpcCode.Unimplemented, "Not Implemented");
    return callMethod(found, request, body, deps);
  };
}

/** Decodes a path before splitting it, like Go's `URL.Path`, so that escaped slashes also separate segments. */
function pathSegments(pathname: string): readonly string[] | undefined {
  try {
    return goUnescape(pathname, false).slice(1).split("/");
  } catch {
    return undefined;
  }
}

function findRoute(
  table: RouteTable,
  request: HttpRequest,
  segments: readonly string[],
): FoundRoute | undefined {
  // In grpc-gateway, a colon in the last segment starts a verb, so a segment that starts with a colon matches no route.
  if (segments.at(-1)?.startsWith(":") === true) return undefined;
  const found = table.find(request.method, segments);
  // Like the gateway, treat a form posted to a GET route's path as its query, so that long queries need not fit in a URL.
  return found === undefined && isPostedForm(request) ? table.find("GET", segments) : found;
}

function isPostedForm({ method, headers }: HttpRequest): boolean {
  return method === "POST" && headers["content-type"] === "application/x-www-form-urlencoded";
}

async function callMethod(found: FoundRoute, request: HttpRequest, body: Uint8Array, deps: GatewayDeps) {
  const { route } = found;
  const form = (): FormValues => {
    const query = parseForm(request.url.search.slice(1));
    return isPostedForm(request) ? joinForms(parseForm(Buffer.from(body).toString()), query) : query;
  };
  let data: Uint8Array;
  try {
    data = buildRequest(found, { form, body, chainName: deps.chainName });
  } catch (thrown) {
    return failure(GrpcCode.InvalidArgument, errorMessage(thrown));
  }
  const call = { path: route.path, data, heights: requestedHeights(request) };
  const waiter = { isGone: () => request.signal.aborted, budget: deps.budget };
  // Format the response in the same turn, because formatting takes longer than the call.
  return callInQueue(deps.router, call, waiter, (reply) => toHttpReply(reply, found, deps));
}

function toHttpReply(reply: UnaryReply, { route }: FoundRoute, deps: GatewayDeps): HttpReply {
  // Set the height header even on errors, because the gateway also forwards metadata from failed calls.
  const headers = reply.code === GrpcCode.Unavailable ? RETRY_AFTER : heightHeaders(reply);
  if (reply.code !== GrpcCode.OK) return failure(reply.code, reply.message, headers);
  try {
    const { chainName, router } = deps;
    const json = JSON.stringify(messageToJson(route.responseType, reply.value, chainName, router.proto));
    return jsonReply(200, json, headers);
  } catch (thrown) {
    deps.logger.error("response cannot be encoded as json", { path: route.path, error: errorText(thrown) });
    return failure(GrpcCode.Internal, errorMessage(thrown), headers);
  }
}

/**
 * Returns the values of the height header. Like the SDK's gateway, accepts the header with or without the prefix `Grpc-Metadata-`.
 */
function requestedHeights({ headers }: HttpRequest): readonly string[] {
  return [BLOCK_HEIGHT_KEY, `grpc-metadata-${BLOCK_HEIGHT_KEY}`].flatMap((name) => {
    const value = headers[name];
    if (value === undefined) return [];
    // Split the value, because Node joins repeated headers and the router must detect repetition.
    return typeof value === "string" ? value.split(", ") : value;
  });
}

function heightHeaders({ height }: UnaryReply): Readonly<Record<string, string>> {
  return height === undefined ? {} : { "Grpc-Metadata-X-Cosmos-Block-Height": height.toString() };
}

function failure(code: number, message: string, headers: Readonly<Record<string, string>> = {}): HttpReply {
  return jsonReply(HTTP_STATUS_BY_CODE[code] ?? 500, JSON.stringify({ code, message, details: [] }), headers);
}

function jsonReply(status: number, body: string, headers: Readonly<Record<string, string>>): HttpReply {
  return { status, headers: { "Content-Type": "application/json", ...headers }, body };
}
