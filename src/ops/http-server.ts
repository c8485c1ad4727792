import { Buffer } from "node:buffer";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { Duplex } from "node:stream";
import { onAbort } from "../base/abort.ts";
import { CodedError } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { ListenAddress } from "./config-fields.ts";
import type { HttpReply } from "./http-reply.ts";
import { listen, type ListenOptions } from "./listen.ts";

/** A request that the server itself rejects. `status` is the HTTP status for it. */
export class HttpRequestError extends CodedError<
  | { readonly code: "bad-request"; readonly status: 400 }
  | { readonly code: "body-too-large"; readonly status: 413; readonly limitBytes: number }
> {}

/** A request whose head has arrived. */
export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case. Node joins the values of a repeated header with ", ". */
  readonly headers: IncomingHttpHeaders;
  /** Reads the body. Rejects with {@link HttpRequestError} as soon as the body exceeds the server's limit. */
  readBody(): Promise<Uint8Array>;
  /** Aborts when the client disconnects or the server closes. Created at its first use. */
  readonly signal: AbortSignal;
}

/** Bounds of an HTTP server. */
export interface HttpLimits {
  readonly maxBodyBytes: number;
  /** Open connections. The server drops a further one without a response. */
  readonly maxConnections: number;
  /** Time for the head of a request to arrive. */
  readonly headersTimeoutMs: number;
  /** Time for the complete request to arrive. */
  readonly requestTimeoutMs: number;
  /** Idle time after which a kept-alive connection closes. */
  readonly keepAliveMs: number;
  /** Time that open requests get at close. */
  readonly closeGraceMs: number;
}

export interface HttpServerOptions extends ListenOptions {
  readonly limits: HttpLimits;
  readonly handle: (request: HttpRequest) => HttpReply | Promise<HttpReply>;
  /** The reply to a request whose handler failed, or that the server rejects with {@link HttpRequestError}. */
  readonly failureReply: (error: unknown) => HttpReply;
  /** Takes `Upgrade` requests, e.g. of WebSocket. Without it the server ignores the header, as RFC 9110 allows. */
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
const NO_BODY = new Uint8Array(0);

/** Opens an HTTP server. Rejects with `ListenError` when it cannot bind the address. */
export async function openHttpServer(
  options: HttpServerOptions,
  { logger }: { readonly logger: Logger },
): Promise<OpenHttpServer> {
  const { limits, upgrade } = options;
  const closing = new AbortController();
  const context: ServerContext = { options, logger, closing: closing.signal };
  const server = createServer(
    {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveMs,
      // Node checks both timeouts at this interval. Its default, 30 s, is longer than the timeouts themselves.
      connectionsCheckingInterval: 1000,
    },
    (incoming, outgoing) => void serve(incoming, outgoing, context),
  );
  server.maxConnections = limits.maxConnections;
  server.maxHeadersCount = MAX_HEADERS;
  if (upgrade !== undefined) server.on("upgrade", upgrade);
  const address = await listen(server, options);
  server.on("error", (error) => logger.error("http server error", { server: options.name, error }));
  let closed: Promise<void> | undefined;
  return { address, close: () => (closed ??= close(server, closing, limits.closeGraceMs)) };
}

interface ServerContext {
  readonly options: HttpServerOptions;
  readonly logger: Logger;
  /** Aborts when the server begins to close. */
  readonly closing: AbortSignal;
}

async function serve(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  context: ServerContext,
): Promise<void> {
  try {
    send(outgoing, await context.options.handle(new IncomingRequest(incoming, outgoing, context)));
  } catch (error) {
    // The client is gone, or the close aborted the request. Nobody can receive a reply, and the error is only the
    // consequence, so it is not logged.
    if (outgoing.destroyed || outgoing.headersSent || context.closing.aborted) outgoing.destroy();
    else sendFailure(outgoing, error, context);
  }
}

function sendFailure(outgoing: ServerResponse, error: unknown, { options, logger }: ServerContext): void {
  const reply = options.failureReply(error);
  if (!(error instanceof HttpRequestError)) {
    logger.error("http request failed", { server: options.name, error });
    send(outgoing, reply);
  } else {
    // The rest of the body stays unread, so the connection cannot carry another request.
    send(outgoing, { ...reply, headers: { ...reply.headers, Connection: "close" } });
  }
}

function send(outgoing: ServerResponse, { status, headers, body }: HttpReply): void {
  if (outgoing.destroyed) return;
  outgoing.writeHead(status, { "Content-Length": Buffer.byteLength(body), ...headers });
  // One call with the complete body: Node then writes head and body at once. For HEAD it leaves out the body.
  outgoing.end(body);
}

/**
 * A class, so that the getter is on the prototype: a getter in an object literal gives every request a hidden class of its
 * own, which costs a tenth of a small request.
 */
class IncomingRequest implements HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;
  readonly #context: ServerContext;
  #body: Promise<Uint8Array> | undefined;
  #signal: AbortSignal | undefined;

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, context: ServerContext) {
    this.method = incoming.method ?? "GET";
    this.url = parseTarget(incoming.url ?? "/");
    this.headers = incoming.headers;
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    this.#context = context;
  }

  readBody(): Promise<Uint8Array> {
    return (this.#body ??= readBody(this.#incoming, this.#context.options.limits.maxBodyBytes));
  }

  // Not in the constructor: a controller with its listeners costs several microseconds, and few handlers wait.
  get signal(): AbortSignal {
    return (this.#signal ??= requestSignal(this.#outgoing, this.#context.closing));
  }
}

/** Parses a request target: a path with query, or an absolute URL as clients send it to proxies. */
function parseTarget(target: string): URL {
  // Not `new URL(target, base)`: it would take `//name/path` for a host.
  const url = target.startsWith("/") ? `http://localhost${target}` : target;
  try {
    return new URL(url);
  } catch {
    throw new HttpRequestError({ code: "bad-request", status: 400 }, "the request target is not a path");
  }
}

function requestSignal(outgoing: ServerResponse, closing: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const disconnect = (): void => controller.abort(new Error("the client has disconnected"));
  if (outgoing.destroyed) disconnect();
  const unwatch = onAbort(closing, (reason) => controller.abort(reason));
  outgoing.once("close", () => {
    unwatch();
    disconnect();
  });
  return controller.signal;
}

function readBody(incoming: IncomingMessage, limitBytes: number): Promise<Uint8Array> {
  const { "content-length": declared, "transfer-encoding": encoding } = incoming.headers;
  if (declared === undefined && encoding === undefined) return Promise.resolve(NO_BODY);
  return new Promise((resolve, reject) => {
    if (Number(declared ?? 0) > limitBytes) throw bodyTooLarge(limitBytes);
    // A destroyed stream emits no further events, so the promise would never settle.
    if (incoming.destroyed) throw new Error("the client has disconnected");
    const chunks: Buffer[] = [];
    let length = 0;
    incoming.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limitBytes) chunks.push(chunk);
      else {
        // Stops reading from the socket. A destroy would also cut the reply.
        incoming.pause();
        reject(bodyTooLarge(limitBytes));
      }
    });
    incoming.on("end", () => resolve(Buffer.concat(chunks, length)));
    incoming.on("error", reject);
    incoming.on("close", () => reject(new Error("the client has disconnected")));
  });
}

function bodyTooLarge(limitBytes: number): HttpRequestError {
  return new HttpRequestError(
    { code: "body-too-large", status: 413, limitBytes },
    `the request body is larger than ${limitBytes} bytes`,
  );
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
