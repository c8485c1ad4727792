import { Buffer } from "node:buffer";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { onAbort } from "../base/abort.ts";
import { CodedError } from "../base/errors.ts";
import { stringifyJson } from "../base/json.ts";

/** A request with its complete body, which a route's handler receives. */
export interface RouteRequest extends Pick<HttpRequest, "method" | "headers" | "signal"> {
  readonly path: string;
  /** Values of the `:name` segments in the route's path, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Uint8Array;
}

/** One row of a route table, in which a GET route also serves HEAD requests. */
export interface HttpRoute {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Path that a request must match exactly. `:name` matches one segment, as in `/faults/:name`; `*` alone matches every path. */
  readonly path: string;
  /** Makes the route require the server's bearer token, as every route that changes something must. */
  readonly guarded?: boolean;
  readonly handle: (request: RouteRequest) => HttpReply | Promise<HttpReply>;
}

/** An error for a request that the server itself rejects. `status` is the HTTP status of the reply. */
export class HttpRequestError extends CodedError<
  | { readonly code: "bad-request"; readonly status: 400 }
  | { readonly code: "body-too-large"; readonly status: 413; readonly limitBytes: number }
  | { readonly code: "too-many-bodies"; readonly status: 503 }
> {}

/** A request whose headers have arrived, but perhaps not its body. */
export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  /** Headers by lower-case name, in which Node joins the values of a repeated header with ", ". */
  readonly headers: IncomingHttpHeaders;
  /** Reads the request's body, and rejects with {@link HttpRequestError} as soon as the body exceeds the server's limit. */
  readBody(): Promise<Uint8Array>;
  /** Signal, created on first use, that aborts when the client disconnects or the server closes. */
  readonly signal: AbortSignal;
}

/** A handler's reply. The server adds `Content-Length`, except for a stream. */
export interface HttpReply {
  readonly status: number;
  /** Headers by name; a header with a list of values is sent once per value. */
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body: string | Uint8Array;
  /** Stream that produces the body, instead of `body`. */
  readonly stream?: HttpStream;
}

/**
 * A body written over time, such as server-sent events. The server ends the reply when `run` resolves, and breaks the connection
 * when `run` rejects. `signal` aborts when the client disconnects or the server closes.
 */
export interface HttpStream {
  readonly run: (write: WriteChunk, signal: AbortSignal) => Promise<void>;
}

/**
 * Writes a chunk of the body, and resolves once the client has accepted the chunk, so a slow client has at most one unsent chunk.
 * Rejects if the connection has been closed.
 */
export type WriteChunk = (text: string) => Promise<void>;

/** Creates a table row for a route that serves GET and HEAD. */
export function getRoute(path: string, handle: HttpRoute["handle"]): HttpRoute {
  return { method: "GET", path, handle };
}

/** Creates a JSON reply, in which a bigint is a decimal string. */
export function jsonReply(status: number, value: unknown): HttpReply {
  return replyOf(status, "application/json", `${stringifyJson(value)}\n`);
}

export function textReply(status: number, text: string): HttpReply {
  return replyOf(status, "text/plain", text);
}

function replyOf(status: number, type: string, body: string): HttpReply {
  const headers = { "Content-Type": `${type}; charset=utf-8`, "X-Content-Type-Options": "nosniff" };
  return { status, headers, body };
}

export function withHeaders(reply: HttpReply, headers: NonNullable<HttpReply["headers"]>): HttpReply {
  return { ...reply, headers: { ...reply.headers, ...headers } };
}

/** Creates an error reply in the common JSON format, which has the members `error` (a code) and `message` (a text). */
export function errorReply(status: number, code: string, message: string): HttpReply {
  return jsonReply(status, { error: code, message });
}

interface RequestContext {
  readonly maxBodyBytes: number;
  readonly largeBodies: LargeBodies;
  readonly closing: AbortSignal;
}

/** Memory that request bodies above 64 KiB use, across all unanswered requests. */
export interface LargeBodies {
  readonly maxBytes: number;
  bytes: number;
}

/** Size up to which a body is always read. The limit on connections also limits the number of such bodies. */
const SMALL_BODY_BYTES = 65_536;

const NO_BODY = new Uint8Array(0);

/**
 * A request that wraps Node's request and response. A class keeps the getter `signal` on the prototype: a getter in an object
 * literal would give every request its own hidden class and add a tenth to a small request's cost.
 */
export class IncomingRequest implements HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;
  readonly #context: RequestContext;
  #body: Promise<Uint8Array> | undefined;
  #signal: AbortSignal | undefined;

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, context: RequestContext) {
    this.method = incoming.method ?? "GET";
    this.url = parseTarget(incoming.url ?? "/");
    this.headers = incoming.headers;
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    this.#context = context;
  }

  readBody(): Promise<Uint8Array> {
    return (this.#body ??= readBody(this.#incoming, this.#outgoing, this.#context));
  }

  // Create the signal only when a handler needs it: a controller with listeners costs several microseconds, and few handlers wait.
  get signal(): AbortSignal {
    return (this.#signal ??= requestSignal(this.#outgoing, this.#context.closing));
  }
}

/** Parses a request target: a path with a query, or an absolute URL, which clients send to proxies. */
function parseTarget(target: string): URL {
  // `new URL(target, base)` would treat `//name` in `//name/path` as a host.
  const url = target.startsWith("/") ? `http://localhost${target}` : target;
  try {
    return new URL(url);
  } catch {
    throw new HttpRequestError({ code: "bad-request", status: 400 }, "the request target must be a path");
  }
}

/** Returns a signal that aborts when the client disconnects or the server starts to close. */
export function requestSignal(outgoing: ServerResponse, closing: AbortSignal): AbortSignal {
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

function readBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { maxBodyBytes: limitBytes, largeBodies }: RequestContext,
): Promise<Uint8Array> {
  const { "content-length": declared, "transfer-encoding": encoding } = incoming.headers;
  if (declared === undefined && encoding === undefined) return Promise.resolve(NO_BODY);
  return new Promise((resolve, reject) => {
    if (Number(declared ?? 0) > limitBytes) throw bodyTooLarge(limitBytes);
    // A destroyed stream emits no further events, so the promise would stay pending.
    if (incoming.destroyed) throw new Error("the client has disconnected");
    const chunks: Buffer[] = [];
    let length = 0;
    let held = 0;
    // Free the capacity only at the end of the reply, because the parsed body stays in memory until then.
    outgoing.once("close", () => (largeBodies.bytes -= held));
    const refuse = (error: HttpRequestError): void => {
      // Stop reading from the socket instead of destroying it, because destroying it would also cut off the reply.
      incoming.pause();
      chunks.length = 0;
      reject(error);
    };
    incoming.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > limitBytes) return refuse(bodyTooLarge(limitBytes));
      if (length > SMALL_BODY_BYTES) {
        if (largeBodies.bytes + length - held > largeBodies.maxBytes) return refuse(tooManyBodies());
        largeBodies.bytes += length - held;
        held = length;
      }
      chunks.push(chunk);
    });
    incoming.on("end", () => resolve(Buffer.concat(chunks, length)));
    incoming.on("error", reject);
    incoming.on("close", () => reject(new Error("the client has disconnected")));
  });
}

function tooManyBodies(): HttpRequestError {
  return new HttpRequestError(
    { code: "too-many-bodies", status: 503 },
    "too many large request bodies are arriving; try again later",
  );
}

function bodyTooLarge(limitBytes: number): HttpRequestError {
  return new HttpRequestError(
    { code: "body-too-large", status: 413, limitBytes },
    `the request body exceeds ${limitBytes} bytes`,
  );
}
