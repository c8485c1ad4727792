import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { Duplex } from "node:stream";
import { errorText } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { toListenError } from "../../ops/listen-error.ts";
import type { NodeServer } from "../node-view.ts";

/** Where and how a face listens. */
export interface ListenOptions {
  /** Name of the face, for logs and errors: "rpc", "metrics". */
  readonly face: string;
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** The option that moves the port, for the message about a busy one. */
  readonly portOption: string;
  /** Requests with a larger body get 413. */
  readonly maxBodyBytes: number;
}

/** A request with its body read whole. */
export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
  readonly body: Uint8Array;
}

/** What goes back. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** What a listener needs. `upgrade` takes WebSocket upgrades; without it they are refused. */
export interface ListenDeps {
  readonly logger: Logger;
  readonly answer: (request: HttpRequest) => HttpAnswer | Promise<HttpAnswer>;
  readonly upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

const REQUEST_TIMEOUT_MS = 30_000;
/** CometBFT's default for open connections. */
const MAX_CONNECTIONS = 900;
const HEADERS_TIMEOUT_MS = 10_000;

/** Creates an HTTP server of one face: bounded bodies, deadlines, coded errors for a busy port, a plain 500 for our own errors. */
export function createHttpListener(options: ListenOptions, deps: ListenDeps): NodeServer {
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: HEADERS_TIMEOUT_MS, keepAliveTimeout: 60_000 },
    (request, response) => void serve(request, response, options, deps),
  );
  server.maxConnections = MAX_CONNECTIONS;
  server.maxHeadersCount = 100;
  server.on("upgrade", (request, socket, head) => {
    if (deps.upgrade === undefined) socket.destroy();
    else deps.upgrade(request, socket, head);
  });
  server.on("clientError", (_error, socket) => {
    if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
  });
  return {
    name: options.face,
    listen: () => listen(server, options),
    close: () => close(server),
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  options: ListenOptions,
  deps: ListenDeps,
): Promise<void> {
  try {
    const answer = await answerRequest(request, options, deps);
    response.writeHead(answer.status, {
      "Content-Length": Buffer.byteLength(answer.body),
      ...answer.headers,
    });
    response.end(answer.body);
  } catch (error) {
    if (!request.complete) return; // the client went away before it had asked
    deps.logger.error("request failed", { face: options.face, error: errorText(error) });
    if (!response.headersSent) response.writeHead(500, { "Content-Type": "text/plain; charset=utf-8" });
    response.end("internal error\n");
  }
}

async function answerRequest(
  request: IncomingMessage,
  options: ListenOptions,
  deps: ListenDeps,
): Promise<HttpAnswer> {
  const url = parseUrl(request);
  if (url === undefined) return plainAnswer(400, "bad request target");
  const body = await readBody(request, options.maxBodyBytes);
  if (body === undefined) {
    return { ...plainAnswer(413, "request body too large"), headers: { Connection: "close" } };
  }
  return deps.answer({ method: request.method ?? "GET", url, headers: request.headers, body });
}

/** A plain text answer; without a text the status' own phrase. */
export function plainAnswer(status: number, text = STATUS_CODES[status] ?? ""): HttpAnswer {
  return { status, headers: { "Content-Type": "text/plain; charset=utf-8" }, body: `${text}\n` };
}

function parseUrl(request: IncomingMessage): URL | undefined {
  try {
    return new URL(request.url ?? "/", "http://localhost");
  } catch {
    return undefined;
  }
}

/** The whole body, or undefined when it is longer than allowed. Rejects when the client goes away. */
function readBody(request: IncomingMessage, maxBytes: number): Promise<Uint8Array | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBytes) {
        request.pause();
        resolve(undefined);
      } else chunks.push(chunk);
    });
    request.on("end", () => resolve(Buffer.concat(chunks)));
    request.on("error", reject);
    request.on("close", () => reject(new Error("the client has gone")));
  });
}

function listen(server: Server, options: ListenOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (cause: unknown): void =>
      reject(toListenError(cause, options.face, options, options.portOption));
    server.once("error", onError);
    server.listen(options.port, options.host, () => {
      server.removeListener("error", onError);
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : options.port);
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), 500).unref();
  });
}
