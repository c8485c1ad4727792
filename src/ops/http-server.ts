import { createServer, type Server } from "node:http";
import type { Logger } from "../base/logger.ts";
import type { ListenAddress } from "./config-fields.ts";
import { type AnswerOptions, answerRequest } from "./http-answer.ts";
import { toListenError } from "./listen-error.ts";

/** One listening face of a process. */
export interface HttpServerOptions extends AnswerOptions {
  /** Port 0 takes any free one. */
  readonly listen: ListenAddress;
  /** The option or configuration key that moves the port; named when it is taken. */
  readonly portOption: string;
  /** Time for a whole request to arrive; default 10 s. */
  readonly requestTimeoutMs?: number;
  /** Time that open answers get at close; default 1 s. */
  readonly closeTimeoutMs?: number;
}

/** A server that listens. */
export interface OpenHttpServer {
  /** As bound: with the real port. */
  readonly address: ListenAddress;
  /** Stops listening, lets open answers finish within the close timeout, then cuts them. Safe to call twice. */
  readonly close: () => Promise<void>;
}

/** What a server needs from its surroundings. */
export interface HttpServerDeps {
  readonly logger: Logger;
}

/**
 * Listens and answers until closed.
 * @throws {PortInUseError | ListenError} when the address cannot be had.
 */
export async function openHttpServer(
  options: HttpServerOptions,
  deps: HttpServerDeps,
): Promise<OpenHttpServer> {
  const open = new Set<AbortController>();
  const requestTimeout = options.requestTimeoutMs ?? 10_000;
  const call = { options, logger: deps.logger, open };
  const server = createServer(
    {
      headersTimeout: requestTimeout,
      requestTimeout,
      keepAliveTimeout: 5000,
      connectionsCheckingInterval: 1000,
    },
    (incoming, outgoing) => void answerRequest(incoming, outgoing, call),
  );
  server.maxConnections = 512;
  server.maxHeadersCount = 100;
  await listen(server, options);
  server.on("error", (error) => deps.logger.error("http server error", { server: options.name, error }));
  const bound = server.address();
  const port = typeof bound === "object" && bound !== null ? bound.port : options.listen.port;
  let closed: Promise<void> | undefined;
  return {
    address: { host: options.listen.host, port },
    close: () => (closed ??= close(server, open, options.closeTimeoutMs ?? 1000)),
  };
}

function listen(server: Server, options: HttpServerOptions): Promise<void> {
  const { host, port } = options.listen;
  return new Promise((resolve, reject) => {
    const onError = (cause: unknown): void =>
      reject(toListenError(cause, options.name, options.listen, options.portOption));
    server.once("error", onError);
    server.listen({ host, port }, () => {
      server.off("error", onError);
      resolve();
    });
  });
}

function close(server: Server, open: ReadonlySet<AbortController>, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), timeoutMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    for (const request of open) request.abort(new Error("the server is closing"));
    server.closeIdleConnections();
  });
}
