import type { Buffer } from "node:buffer";
import { createServer, type IncomingMessage } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type WebSocket, WebSocketServer } from "ws";
import { boundPort, type ServerIdentity, statusResult } from "./rpc-server.ts";

/** A WebSocket server on loopback. It responds to `status` and `subscribe` and publishes events of the test. */
export interface EventServer {
  readonly url: string;
  readonly port: number;
  /** Queries of all subscribe requests so far, over all connections. */
  readonly subscribed: readonly string[];
  /** Number of connections so far. */
  readonly connections: () => number;
  /** Sends an event to every open connection. `id` is the id of the subscribe request, 1 by default. */
  readonly publish: (type: string, value: unknown, id?: number) => void;
  /** Sends a text frame to every open connection. */
  readonly sendRaw: (text: string) => void;
  readonly sockets: () => readonly WebSocket[];
  readonly close: () => Promise<void>;
}

export interface EventServerOptions {
  readonly port?: number;
  readonly chainId?: string;
  /** Returns an error text to refuse a subscription, undefined to accept it. `attempt` counts from 1 over all connections. */
  readonly refuse?: (query: string, attempt: number) => string | undefined;
  /** Responds to nothing, not even to pings. */
  readonly mute?: boolean;
  readonly onUpgrade?: (request: IncomingMessage) => unknown;
  /** With TLS. */
  readonly identity?: ServerIdentity;
}

/** Starts a server. */
export async function startEventServer(options: EventServerOptions = {}): Promise<EventServer> {
  const subscribed: string[] = [];
  let connections = 0;
  const { identity } = options;
  const http = identity === undefined ? createServer() : createTlsServer({ ...identity });
  const server = new WebSocketServer({
    server: http,
    path: "/websocket",
    autoPong: options.mute !== true,
  });
  server.on("connection", (socket, request) => {
    connections += 1;
    options.onUpgrade?.(request);
    socket.on("message", (data: Buffer) => {
      if (options.mute === true) return;
      const { id, method, params } = JSON.parse(data.toString("utf8"));
      if (method === "status") {
        socket.send(
          JSON.stringify({ jsonrpc: "2.0", id, result: statusResult(options.chainId ?? "test-1", 5n) }),
        );
        return;
      }
      subscribed.push(params.query);
      const refusal = options.refuse?.(params.query, subscribed.length);
      const outcome =
        refusal === undefined
          ? { result: {} }
          : { error: { code: -32603, message: "Internal error", data: refusal } };
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, ...outcome }));
    });
  });
  await new Promise<void>((resolve) => http.listen(options.port ?? 0, "127.0.0.1", resolve));
  const port = boundPort(server.address());
  const sendRaw = (text: string): void => {
    for (const socket of server.clients) socket.send(text);
  };
  return {
    url: `${identity === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    port,
    subscribed,
    connections: () => connections,
    publish: (type, value, id = 1) =>
      sendRaw(JSON.stringify({ jsonrpc: "2.0", id, result: { query: "q", data: { type, value } } })),
    sendRaw,
    sockets: () => [...server.clients],
    close: () =>
      new Promise((resolve) => {
        for (const socket of server.clients) socket.terminate();
        server.close();
        http.close(() => resolve());
      }),
  };
}

/** Creates the value of a NewBlockHeader event. */
export function headerEvent(height: number): unknown {
  return { header: { height: `${height}`, time: "2026-11-21T12:26:05.360483943Z" } };
}
