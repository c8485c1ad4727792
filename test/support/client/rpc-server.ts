import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { dataHash } from "../../../src/cosmos/merkle/simple-tree.ts";
import { toBase64, toHex } from "../../../src/platform/base/bytes.ts";

/** A received request and the means to respond. */
export interface RpcExchange {
  readonly body: string;
  /** calls of the request; one when it is not a batch */
  readonly calls: readonly {
    readonly id: unknown;
    readonly method: string;
    readonly params: Record<string, unknown>;
  }[];
  readonly isBatch: boolean;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Responds with a JSON body. */
  readonly reply: (value: unknown, status?: number) => void;
}

/** An HTTP server on loopback. The test supplies every response. */
export interface RpcServer {
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  /** Bodies received so far. */
  readonly bodies: readonly string[];
  readonly close: () => Promise<void>;
}

/** A certificate and its key, PEM. */
export interface ServerIdentity {
  readonly cert: string;
  readonly key: string;
}

/** Starts a server on `port` (0: a free one), with TLS if it has an identity. */
export async function startRpcServer(
  handle: (exchange: RpcExchange) => void,
  port = 0,
  identity?: ServerIdentity,
): Promise<RpcServer> {
  const bodies: string[] = [];
  const sockets = new Set<Socket>();
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    const serve = async (): Promise<void> => {
      const body = await text(request);
      // Such as the request for an event stream.
      if (request.method !== "POST") return void response.writeHead(404).end();
      bodies.push(body);
      const parsed: unknown = JSON.parse(body);
      const isBatch = Array.isArray(parsed);
      const reply = (value: unknown, status = 200): void => {
        response.writeHead(status, { "content-type": "application/json" });
        response.end(JSON.stringify(value));
      };
      handle({ body, calls: isBatch ? parsed : [JSON.parse(body)], isBatch, request, response, reply });
    };
    void serve();
  };
  const server = identity === undefined ? createServer(listener) : createTlsServer({ ...identity }, listener);
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const bound = boundPort(server.address());
  return {
    url: `${identity === undefined ? "http" : "https"}://127.0.0.1:${bound}`,
    port: bound,
    server,
    bodies,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Returns the port of a listening server. */
export function boundPort(address: AddressInfo | string | null): number {
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return address.port;
}

/** Result of `status`, only with the fields that the client reads. */
export function statusResult(chainId: string, height: bigint, earliest = 1n): unknown {
  return {
    node_info: { network: chainId },
    sync_info: {
      latest_block_height: height.toString(),
      latest_block_time: "2026-11-21T12:26:05.360483943Z",
      earliest_block_height: earliest.toString(),
      catching_up: false,
    },
  };
}

/** Result of `block`, only with the fields that the client reads. */
export function blockResult(txs: readonly Uint8Array[]): Readonly<Record<string, unknown>> {
  return { block: { header: { data_hash: toHex(dataHash(txs)) }, data: { txs: txs.map(toBase64) } } };
}

/** Responds to every call of a request. An exception of `answer` becomes a JSON-RPC error with its text. */
export function answerCalls(
  exchange: RpcExchange,
  answer: (method: string, params: Record<string, unknown>) => unknown,
): void {
  const responses = exchange.calls.map(({ id, method, params }) => {
    try {
      return { jsonrpc: "2.0", id, result: answer(method, params) };
    } catch (error) {
      const data = error instanceof Error ? error.message : "error";
      return { jsonrpc: "2.0", id, error: { code: -32603, message: "Internal error", data } };
    }
  });
  exchange.reply(exchange.isBatch ? responses : responses[0]);
}
