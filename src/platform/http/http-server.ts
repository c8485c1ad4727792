import { Buffer } from "node:buffer";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Logger } from "../base/logger.ts";
import type { ListenAddress } from "../config/config-fields.ts";
import { corsHeaders, createAccessCheck, type HttpAccess, preflightHeaders } from "./http-access.ts";
import {
  createHttpConnections,
  createSendBudget,
  type HttpConnections,
  refuseUpgrade,
  type SendBudget,
} from "./http-connections.ts";
import {
  type HttpReply,
  type HttpRequest,
  HttpRequestError,
  type HttpStream,
  IncomingRequest,
  type LargeBodies,
  requestSignal,
  textReply,
  withHeaders,
  type WriteChunk,
} from "./http-route.ts";
import { listen, type ListenOptions } from "./listen.ts";

export interface HttpLimits {
  readonly maxBodyBytes: number;
  /** Maximum total bytes of bodies above 64 KiB in unanswered requests; 64 MiB by default. Above it, a large body gets status 503. */
  readonly maxLargeBodiesBytes?: number;
  /**
   * Maximum number of open connections. At the limit, a new connection replaces the connection that has gone longest without a
   * complete request, or is closed itself.
   */
  readonly maxConnections: number;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** Idle time after which a keep-alive connection is closed. */
  readonly keepAliveMs: number;
  /** Limit on unsent bytes across all replies. Above this limit, the server delays requests and disconnects slow readers. */
  readonly maxUnsentBytes: number;
  /** Time after which the server disconnects a client that reads nothing from a reply. */
  readonly stalledMs: number;
  /** Time allowed for open requests to finish when the server closes. */
  readonly closeGraceMs: number;
}

export interface HttpServerOptions extends ListenOptions {
  readonly limits: HttpLimits;
  readonly access?: HttpAccess;
  /** Returns the time for the `Date` header, in ms since the Unix epoch; by default, this machine's time. */
  readonly dateMs?: () => number;
  /** Send budget that several servers share, for example HTTP and WebSocket; by default, a new budget of `maxUnsentBytes`. */
  readonly budget?: SendBudget;
  readonly handle: (request: HttpRequest) => HttpReply | Promise<HttpReply>;
  /**
   * Returns the error reply for an error that a handler throws, or for the {@link HttpRequestError} of a request that the server
   * rejects.
   */
  readonly failureReply: (error: unknown) => HttpReply;
  /**
   * Accepts `Upgrade` requests, for example for WebSocket. The given socket already has an error listener. Without this handler,
   * the server ignores the `Upgrade` header, as RFC 9110 allows.
   */
  readonly upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

export interface OpenHttpServer {
  /** The address to which the server is bound, with the actual port. */
  readonly address: ListenAddress;
  /**
   * Stops listening, aborts the signals of open requests, and closes the remaining connections after the grace period. May be
   * called repeatedly. The owner of `upgrade` must first close upgraded connections.
   */
  readonly close: () => Promise<void>;
}

const MAX_HEADERS = 100;
const MAX_LARGE_BODIES_BYTES = 67_108_864;

/** Opens an HTTP server, and rejects with `ListenError` if the address cannot be bound. */
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
    largeBodies: { bytes: 0, maxBytes: limits.maxLargeBodiesBytes ?? MAX_LARGE_BODIES_BYTES },
  };
  const server = createServer(
    {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveMs,
      // Interval at which Node checks both timeouts; Node's default of 30 s exceeds the timeouts themselves.
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
  readonly closing: AbortSignal;
  readonly maxBodyBytes: number;
  readonly largeBodies: LargeBodies;
}

function createUpgrade(
  upgrade: NonNullable<HttpServerOptions["upgrade"]>,
  { connections, checkAccess }: ServerContext,
): (incoming: IncomingMessage, socket: Socket, head: Buffer) => void {
  return (incoming, socket, head) => {
    // Node removes its own error listener before an upgrade. Without a listener, a client's reset would end the process.
    socket.on("error", () => socket.destroy());
    const access = checkAccess(incoming.headers);
    if (!connections.upgrade(socket)) socket.destroy();
    else if (access.ok) upgrade(incoming, socket, head);
    else refuseUpgrade(socket, "403 Forbidden", `${access.reason}\n`);
  };
}

async function serve(outgoing: ServerResponse, context: ServerContext): Promise<void> {
  const access = context.checkAccess(outgoing.req.headers);
  const origin = access.ok ? access.origin : undefined;
  try {
    if (!access.ok) send(outgoing, withClose(textReply(403, `${access.reason}\n`)), context);
    else if (origin !== undefined && isPreflight(outgoing.req)) {
      send(
        outgoing,
        { status: 204, headers: preflightHeaders(origin, outgoing.req.headers), body: "" },
        context,
      );
    } else {
      const request = new IncomingRequest(outgoing.req, outgoing, context);
      send(outgoing, withHeaders(await context.options.handle(request), corsHeaders(origin)), context);
    }
  } catch (error) {
    // The client has disconnected, or the server's close aborted the request. The error is not logged, because it is only a
    // consequence and nobody can receive a reply.
    if (outgoing.destroyed || outgoing.headersSent || context.closing.aborted) outgoing.destroy();
    else sendFailure(outgoing, error, origin, context);
  }
}

/** Makes a reply end its connection, because the rest of the request's body stays unread and no other request can follow it. */
function withClose(reply: HttpReply): HttpReply {
  return withHeaders(reply, { Connection: "close" });
}

function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === "OPTIONS" && headers["access-control-request-method"] !== undefined;
}

function sendFailure(
  outgoing: ServerResponse,
  error: unknown,
  origin: string | undefined,
  context: ServerContext,
): void {
  const { options, logger } = context;
  const reply = withHeaders(options.failureReply(error), corsHeaders(origin));
  const isRejected = error instanceof HttpRequestError;
  if (!isRejected) logger.error("http request failed", { server: options.name, error });
  send(outgoing, isRejected ? withClose(reply) : reply, context);
}

function send(outgoing: ServerResponse, reply: HttpReply, context: ServerContext): void {
  if (outgoing.destroyed) return;
  const { status, headers, body, stream } = reply;
  const dateMs = context.options.dateMs?.();
  if (dateMs !== undefined) outgoing.setHeader("Date", new Date(dateMs).toUTCString());
  if (stream !== undefined) {
    outgoing.writeHead(status, headers);
    void sendStream(outgoing, stream, context);
    return;
  }
  const bytes = Buffer.byteLength(body);
  // A reply with status 204 must not contain `Content-Length`.
  outgoing.writeHead(status, status === 204 ? headers : { "Content-Length": bytes, ...headers });
  // Pass the whole body to `end`, so that Node writes head and body together. For HEAD, Node omits the body.
  outgoing.end(body);
  context.connections.sent(outgoing, bytes);
}

/** Runs a stream after the head of its reply has been written, then ends the reply. Never rejects: an error breaks the connection. */
async function sendStream(
  outgoing: ServerResponse,
  stream: HttpStream,
  { budget, closing, options }: ServerContext,
): Promise<void> {
  if (outgoing.req.method === "HEAD") {
    outgoing.end();
    return;
  }
  const { socket } = outgoing;
  outgoing.flushHeaders();
  // Node restarts this timer whenever the client reads bytes, and closes the connection when the timer expires.
  socket?.setTimeout(options.limits.stalledMs);
  const signal = requestSignal(outgoing, closing);
  const write: WriteChunk = async (text) => {
    signal.throwIfAborted();
    if (outgoing.write(text)) return;
    const release = budget.hold(Buffer.byteLength(text), () => socket?.destroy());
    await drained(outgoing).finally(release);
  };
  try {
    await stream.run(write, signal);
    outgoing.end();
  } catch {
    // The client has disconnected, the server is closing, or the stream failed. A connected client sees a broken stream.
    outgoing.destroy();
  }
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    const onDrain = (): void => {
      outgoing.off("close", onClose);
      resolve();
    };
    const onClose = (): void => {
      outgoing.off("drain", onDrain);
      reject(new Error("the client has disconnected"));
    };
    outgoing.once("drain", onDrain);
    outgoing.once("close", onClose);
  });
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
