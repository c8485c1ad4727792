import { Buffer } from "node:buffer";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Logger } from "../base/logger.ts";
import type { ListenAddress } from "../config/config-fields.ts";
import { corsHeaders, createAccessCheck, type HttpAccess, preflightHeaders } from "./http-access.ts";
import { createHttpConnections, type HttpConnections } from "./http-connections.ts";
import { type HttpReply, textReply } from "./http-reply.ts";
import { type HttpRequest, HttpRequestError, IncomingRequest } from "./http-request.ts";
import { sendStream } from "./http-stream.ts";
import { listen, type ListenOptions } from "./listen.ts";
import { refuseUpgrade } from "./raw-socket.ts";
import { createSendBudget, type SendBudget } from "./send-budget.ts";

/** Bounds of an HTTP server. */
export interface HttpLimits {
  readonly maxBodyBytes: number;
  /** Open connections. A further one replaces the connection that is idle for the longest time, if any, else it is cut. */
  readonly maxConnections: number;
  /** Time for the head of a request to arrive. */
  readonly headersTimeoutMs: number;
  /** Time for the complete request to arrive. */
  readonly requestTimeoutMs: number;
  /** Idle time after which a kept-alive connection closes. */
  readonly keepAliveMs: number;
  /** Unsent bytes of all replies above which the server delays requests and cuts the clients that read slowly. */
  readonly maxUnsentBytes: number;
  /** Time after which the server cuts a client that takes nothing of a reply. */
  readonly stalledMs: number;
  /** Time that open requests get at close. */
  readonly closeGraceMs: number;
}

export interface HttpServerOptions extends ListenOptions {
  readonly limits: HttpLimits;
  readonly access?: HttpAccess;
  /** Default: one of its own with `maxUnsentBytes`. A budget of others counts their bytes as well. */
  readonly budget?: SendBudget;
  readonly handle: (request: HttpRequest) => HttpReply | Promise<HttpReply>;
  /** The reply to a request whose handler failed, or that the server rejects with {@link HttpRequestError}. */
  readonly failureReply: (error: unknown) => HttpReply;
  /** Takes accepted `Upgrade` requests, e.g. of WebSocket. The socket has an error listener. Without it the server ignores the header, as RFC 9110 allows. */
  readonly upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/** A listening server. */
export interface OpenHttpServer {
  /** The bound address, with the real port. */
  readonly address: ListenAddress;
  /**
   * Stops listening and aborts the signals of open requests. Cuts the connections that are still open after the grace
   * time. May be called more than once. Upgraded connections must be closed first, by the owner of `upgrade`.
   */
  readonly close: () => Promise<void>;
}

const MAX_HEADERS = 100;

/** Opens an HTTP server. Rejects with `ListenError` when it cannot bind the address. */
export async function openHttpServer(
  options: HttpServerOptions,
  { logger }: { readonly logger: Logger },
): Promise<OpenHttpServer> {
  const { limits } = options;
  const closing = new AbortController();
  const budget = options.budget ?? createSendBudget(limits.maxUnsentBytes);
  const connections = createHttpConnections({
    maxConnections: limits.maxConnections,
    stalledMs: limits.stalledMs,
    budget,
    serve: (outgoing) => void serve(outgoing, context),
  });
  const checkAccess = createAccessCheck(options.listen.host, options.access);
  const context = {
    options,
    logger,
    connections,
    budget,
    checkAccess,
    closing: closing.signal,
    maxBodyBytes: limits.maxBodyBytes,
  };
  const server = createServer(
    {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveMs,
      // Node checks both timeouts at this interval. Its default, 30 s, is longer than the timeouts themselves.
      connectionsCheckingInterval: 1000,
    },
    (_incoming, outgoing) => connections.take(outgoing),
  );
  server.maxHeadersCount = MAX_HEADERS;
  server.on("connection", connections.add);
  if (options.upgrade !== undefined) server.on("upgrade", createUpgrade(options.upgrade, context));
  const address = await listen(server, options);
  server.on("error", (error) => logger.error("http server error", { server: options.name, error }));
  let closed: Promise<void> | undefined;
  return { address, close: () => (closed ??= close(server, closing, limits.closeGraceMs)) };
}

interface ServerContext {
  readonly options: HttpServerOptions;
  readonly logger: Logger;
  readonly connections: HttpConnections;
  readonly budget: SendBudget;
  readonly checkAccess: ReturnType<typeof createAccessCheck>;
  /** Aborts when the server begins to close. */
  readonly closing: AbortSignal;
  readonly maxBodyBytes: number;
}

function createUpgrade(
  upgrade: NonNullable<HttpServerOptions["upgrade"]>,
  { connections, checkAccess }: ServerContext,
): (incoming: IncomingMessage, socket: Socket, head: Buffer) => void {
  return (incoming, socket, head) => {
    // Node has removed its own listener. Without this one, a reset by the client would end the process.
    socket.on("error", () => socket.destroy());
    const verdict = checkAccess(incoming.headers);
    if (!connections.upgrade(socket)) socket.destroy();
    else if (verdict.ok) upgrade(incoming, socket, head);
    else refuseUpgrade(socket, "403 Forbidden", `${verdict.reason}\n`);
  };
}

async function serve(outgoing: ServerResponse, context: ServerContext): Promise<void> {
  const verdict = context.checkAccess(outgoing.req.headers);
  const origin = verdict.ok ? verdict.origin : undefined;
  try {
    if (!verdict.ok) send(outgoing, forbidden(verdict.reason), context);
    else if (origin !== undefined && isPreflight(outgoing.req)) {
      send(
        outgoing,
        { status: 204, headers: preflightHeaders(origin, outgoing.req.headers), body: "" },
        context,
      );
    } else {
      const request = new IncomingRequest(outgoing.req, outgoing, context);
      send(outgoing, withCors(await context.options.handle(request), origin), context);
    }
  } catch (error) {
    // The client is gone, or the close aborted the request. Nobody can receive a reply, and the error is only the
    // consequence, so it is not logged.
    if (outgoing.destroyed || outgoing.headersSent || context.closing.aborted) outgoing.destroy();
    else sendFailure(outgoing, error, origin, context);
  }
}

function forbidden(reason: string): HttpReply {
  const reply = textReply(403, `${reason}\n`);
  // The body of the request stays unread.
  return { ...reply, headers: { ...reply.headers, Connection: "close" } };
}

function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === "OPTIONS" && headers["access-control-request-method"] !== undefined;
}

function withCors(reply: HttpReply, origin: string | undefined): HttpReply {
  return origin === undefined ? reply : { ...reply, headers: { ...reply.headers, ...corsHeaders(origin) } };
}

function sendFailure(
  outgoing: ServerResponse,
  error: unknown,
  origin: string | undefined,
  context: ServerContext,
): void {
  const { options, logger } = context;
  const reply = withCors(options.failureReply(error), origin);
  if (!(error instanceof HttpRequestError)) {
    logger.error("http request failed", { server: options.name, error });
    send(outgoing, reply, context);
  } else {
    // The rest of the body stays unread, so the connection cannot carry another request.
    send(outgoing, { ...reply, headers: { ...reply.headers, Connection: "close" } }, context);
  }
}

function send(outgoing: ServerResponse, reply: HttpReply, context: ServerContext): void {
  if (outgoing.destroyed) return;
  const { status, headers, body, stream } = reply;
  if (stream !== undefined) {
    outgoing.writeHead(status, headers);
    const { budget, closing, options } = context;
    void sendStream(outgoing, stream, { budget, closing, stalledMs: options.limits.stalledMs });
    return;
  }
  const bytes = Buffer.byteLength(body);
  // A reply with status 204 must not have the header.
  outgoing.writeHead(status, status === 204 ? headers : { "Content-Length": bytes, ...headers });
  // One call with the complete body: Node then writes head and body at once. For HEAD it leaves out the body.
  outgoing.end(body);
  context.connections.sent(outgoing, bytes);
}

function close(server: Server, closing: AbortController, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    closing.abort(new Error("the server is closing"));
    server.closeIdleConnections();
  });
}
