import type { Logger } from "../../../platform/base/logger.ts";
import type { HttpAccess } from "../../../platform/http/http-access.ts";
import {
  type HttpReply,
  type HttpRequest,
  HttpRequestError,
  textReply,
} from "../../../platform/http/http-route.ts";
import {
  type HttpLimits,
  type HttpServerOptions,
  type OpenHttpServer,
  openHttpServer,
} from "../../../platform/http/http-server.ts";
import { BusyError, RETRY_AFTER } from "./work-queue.ts";
import type { Clock } from "../../../platform/base/clock.ts";

/** A server's address, and the command-line option that changes its port. */
export interface ServerAddress {
  readonly host: string;
  /** Port to listen on. If 0, the operating system chooses a free port. */
  readonly port: number;
  readonly portOption: string;
  /**
   * Hosts and web pages that may use the server. The gRPC server ignores this field, because browsers do not support unencrypted
   * HTTP/2.
   */
  readonly access?: HttpAccess;
}

export interface NodeServer {
  readonly name: string;
  /** Starts listening and returns the bound port. Rejects with `ListenError`. */
  readonly listen: () => Promise<number>;
  /** Stops listening and closes open connections within a second. */
  readonly close: () => Promise<void>;
}

/** Limits for the RPC and REST servers. */
export const NODE_HTTP_LIMITS: HttpLimits = {
  // Allow more than the 1 MB that CometBFT and the SDK allow, because a 1 MB transaction is larger in base64.
  maxBodyBytes: 4_000_000,
  // Allow more connections than CometBFT (`max_open_connections`, 900), because on this node, WebSockets alone can use 900 connections.
  maxConnections: 1_000,
  headersTimeoutMs: 10_000,
  // Use CometBFT's default read timeout.
  requestTimeoutMs: 10_000,
  keepAliveMs: 60_000,
  // The limit applies per server, and a single process may run two chains with two servers each.
  maxUnsentBytes: 67_108_864,
  stalledMs: 15_000,
  // Close connections after half a second, because `NodeServer.close` must end within a second.
  closeGraceMs: 500,
};

interface NodeHttpOptions extends Pick<HttpServerOptions, "upgrade" | "budget"> {
  readonly handle: (request: HttpRequest, body: Uint8Array) => HttpReply | Promise<HttpReply>;
}

/** Creates an HTTP server for the node. Like Go's `net/http`, the server reports HTTP errors as plain text. */
export function createNodeHttpServer(
  name: string,
  { host, port, portOption, access }: ServerAddress,
  { handle, ...options }: NodeHttpOptions,
  deps: { readonly clock: Pick<Clock, "nowMs">; readonly logger: Logger },
): NodeServer {
  const server: HttpServerOptions = {
    name,
    listen: { host, port },
    portOption,
    limits: NODE_HTTP_LIMITS,
    failureReply,
    access: access ?? {},
    ...options,
    handle: async (request) => {
      const { headers, ...reply } = await handle(request, await request.readBody());
      const serverTime = String(Math.floor(deps.clock.nowMs() / 1000));
      return { ...reply, headers: { ...headers, "X-Server-Time": serverTime } };
    },
  };
  return toNodeServer(name, () => openHttpServer(server, deps));
}

export function toNodeServer(name: string, open: () => Promise<OpenHttpServer>): NodeServer {
  let server: OpenHttpServer | undefined;
  return {
    name,
    listen: async () => {
      server = await open();
      return server.address.port;
    },
    close: async () => server?.close(),
  };
}

function busyReply({ message }: Error): HttpReply {
  const reply = textReply(503, `${message}\n`);
  return { ...reply, headers: { ...reply.headers, ...RETRY_AFTER } };
}

function failureReply(error: unknown): HttpReply {
  if (error instanceof BusyError) return busyReply(error);
  if (!(error instanceof HttpRequestError)) return textReply(500, "internal error\n");
  const { code, status } = error.facts;
  if (status === 503) return busyReply(error);
  return textReply(status, code === "bad-request" ? "bad request target\n" : "request body too large\n");
}
