import type { Buffer } from "node:buffer";
import { type WebSocket, WebSocketServer } from "ws";
import { boundPort, statusResult } from "./rpc-server.ts";

/** A WebSocket server on loopback that answers `status` and `subscribe`, and sends what the test says. */
export interface EventServer {
  readonly url: string;
  readonly port: number;
  /** Texts of the subscriptions asked for so far, over all connections. */
  readonly subscribed: readonly string[];
  /** Connections made so far. */
  readonly connections: () => number;
  /** Sends an event to every open connection, under the id of its subscription number `index`. */
  readonly publish: (type: string, value: unknown, id?: number) => void;
  /** Sends any text to every open connection. */
  readonly sendRaw: (text: string) => void;
  readonly sockets: () => readonly WebSocket[];
  readonly close: () => Promise<void>;
}

/** How the server treats requests; both may return an RPC error's text instead of answering well. */
export interface EventServerOptions {
  readonly port?: number;
  readonly chainId?: string;
  /** Error text for a subscription, undefined to accept it; `attempt` counts from 1 over all connections. */
  readonly refuse?: (query: string, attempt: number) => string | undefined;
  /** Answers nothing at all, not even pings. */
  readonly mute?: boolean;
}

/** Starts a server. */
export async function startEventServer(options: EventServerOptions = {}): Promise<EventServer> {
  const subscribed: string[] = [];
  let connections = 0;
  const server = new WebSocketServer({
    port: options.port ?? 0,
    host: "127.0.0.1",
    path: "/websocket",
    autoPong: options.mute !== true,
  });
  server.on("connection", (socket) => {
    connections += 1;
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
      const answer =
        refusal === undefined
          ? { result: {} }
          : { error: { code: -32603, message: "Internal error", data: refusal } };
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
    });
  });
  await new Promise<void>((resolve) => server.once("listening", resolve));
  const port = boundPort(server.address());
  const sendRaw = (text: string): void => {
    for (const socket of server.clients) socket.send(text);
  };
  return {
    url: `http://127.0.0.1:${port}`,
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
        server.close(() => resolve());
      }),
  };
}

/** Value of a NewBlockHeader event. */
export function headerEvent(height: number): unknown {
  return { header: { height: `${height}`, time: "2026-11-21T12:26:05.360483943Z" } };
}
