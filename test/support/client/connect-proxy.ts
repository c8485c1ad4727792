import { createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect, type Socket } from "node:net";
import { boundPort, type ServerIdentity } from "./rpc-server.ts";

/** A proxy on loopback. */
export interface ConnectProxy {
  /** Host and port. */
  readonly url: string;
  /** Requests: method and target. */
  readonly seen: readonly string[];
  readonly close: () => void;
}

interface ProxyOptions {
  readonly isMute?: boolean;
  readonly identity?: ServerIdentity;
}

/**
 * Starts a proxy that knows one host, which no DNS has: `rpc.test` is this machine. Requires the password "p" of the user "u". A mute
 * one accepts connections and never responds; one with an identity has TLS.
 */
export async function startConnectProxy({
  isMute = false,
  identity,
}: ProxyOptions = {}): Promise<ConnectProxy> {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const isAllowed = (header: string | undefined): boolean =>
    header === `Basic ${Buffer.from("u:p").toString("base64")}`;
  const forward = (request: IncomingMessage, response: ServerResponse): unknown => {
    const target = new URL(request.url ?? "");
    seen.push(`${request.method} ${target.host}`);
    if (!isAllowed(request.headers["proxy-authorization"])) return void response.writeHead(407).end();
    const { method, headers } = request;
    const upstream = httpRequest({
      host: "127.0.0.1",
      port: target.port,
      path: target.pathname,
      method,
      headers,
    });
    upstream.on("response", (reply) => {
      response.writeHead(reply.statusCode ?? 500, reply.headers);
      reply.pipe(response);
    });
    return void request.pipe(upstream);
  };
  const server = identity === undefined ? createServer(forward) : createTlsServer({ ...identity }, forward);
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
  });
  server.on("connect", (request, socket) => {
    const [, port] = (request.url ?? "").split(":");
    seen.push(`CONNECT ${request.url}`);
    if (isMute) return undefined;
    if (!isAllowed(request.headers["proxy-authorization"]))
      return void socket.end("HTTP/1.1 407 Denied\r\n\r\n");
    const upstream = connect(Number(port), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      socket.pipe(upstream).pipe(socket);
    });
    upstream.on("error", () => socket.destroy());
    return void socket.on("error", () => upstream.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `127.0.0.1:${boundPort(server.address())}`,
    seen,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
