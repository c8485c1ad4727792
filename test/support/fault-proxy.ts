import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { isRecord } from "../../src/platform/base/json.ts";
import {
  atHeight,
  callsOf,
  type IdentifiedCall,
  mapResponses,
  mapResults,
  type ProxiedCall,
  withHeight,
  withoutCalls,
} from "./json-rpc-bodies.ts";

/** What the proxy does to the connections and responses of a node. Each is something that real nodes and networks do. */
export type ProxyFault =
  /** every connection, open or new, is reset (RST) */
  | { readonly kind: "reset" }
  /** every connection ends without a response (FIN) */
  | { readonly kind: "close" }
  /** requests are accepted and get no response; events do not arrive */
  | { readonly kind: "hang"; readonly only?: (call: ProxiedCall) => boolean }
  | { readonly kind: "delay"; readonly ms: number }
  | { readonly kind: "status"; readonly status: number; readonly only?: (call: ProxiedCall) => boolean }
  /** half of each body, then the end of the connection */
  | { readonly kind: "truncate" }
  /** the node does not go on: no new height, no events */
  | { readonly kind: "stale" }
  /** a load balancer whose second node is this many blocks behind: it gets every other request */
  | { readonly kind: "uneven"; readonly blocks: bigint }
  /** another node listens at the address */
  | { readonly kind: "other-node"; readonly url: string }
  /** some calls do not reach the node and get a JSON-RPC error with this detail; WebSockets pass */
  | { readonly kind: "error"; readonly data: string; readonly only: (call: ProxiedCall) => boolean }
  /** replaces results; WebSockets pass */
  | { readonly kind: "rewrite"; readonly result: (call: ProxiedCall, result: unknown) => unknown }
  /** HTTP passes, WebSockets are refused */
  | { readonly kind: "no-websocket" }
  /** the response of the next broadcast is lost, after the node has received it */
  | { readonly kind: "lose-broadcast" };

/** A proxy in front of the RPC of one node, on loopback. */
export interface FaultProxy {
  readonly url: string;
  /** Starts a fault, which ends the one before; undefined: none. Open connections are cut where the fault says so. */
  readonly set: (fault: ProxyFault | undefined) => void;
  /** Number of calls that arrived since the last `set`. */
  readonly calls: () => number;
  /** Number of calls and connections that the fault has changed or ended since the last `set`. */
  readonly hits: () => number;
  /** Number of WebSockets that are open. */
  readonly webSockets: () => number;
  readonly close: () => Promise<void>;
}

/** State that the parts of one proxy share. */
interface Proxy {
  readonly target: URL;
  fault: ProxyFault | undefined;
  calls: number;
  hits: number;
  /** Height at the start of the fault "stale". */
  staleHeight: bigint;
  requests: number;
  readonly sockets: Set<Duplex>;
  readonly webSockets: Set<Duplex>;
}

/** Starts a proxy without a fault. */
export async function startFaultProxy(url: string): Promise<FaultProxy> {
  const proxy: Proxy = {
    target: new URL(url),
    fault: undefined,
    calls: 0,
    hits: 0,
    staleHeight: 0n,
    requests: 0,
    sockets: new Set(),
    webSockets: new Set(),
  };
  const server = createServer((request, response) => {
    serve(proxy, request, response).catch(() => response.destroy());
  });
  server.on("connection", (socket: Socket) => {
    socket.on("error", () => {});
    socket.on("close", () => proxy.sockets.delete(socket));
    proxy.sockets.add(socket);
    if (proxy.fault?.kind === "reset") socket.resetAndDestroy();
    else if (proxy.fault?.kind === "close") socket.end();
    else return;
    proxy.hits += 1;
  });
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) =>
    passWebSocket(proxy, request, { socket, head }),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    set: (fault) => {
      [proxy.fault, proxy.calls, proxy.hits, proxy.staleHeight] = [fault, 0, 0, 0n];
      if (fault === undefined || CUTS.has(fault.kind))
        cut(proxy, fault?.kind === "close" ? "close" : "reset");
    },
    calls: () => proxy.calls,
    hits: () => proxy.hits,
    webSockets: () => proxy.webSockets.size,
    close: async () => {
      for (const socket of proxy.sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Faults that also end the connections that are open. The others leave them, as a silent network does. */
const CUTS: ReadonlySet<ProxyFault["kind"]> = new Set([
  "reset",
  "close",
  "truncate",
  "other-node",
  "no-websocket",
  "status",
] as const);

/** Faults that change every call. */
const WHOLE: ReadonlySet<ProxyFault["kind"]> = new Set(["delay", "truncate", "stale", "other-node"] as const);

function cut({ sockets }: Proxy, how: "reset" | "close"): void {
  for (const socket of sockets) {
    if (how === "close") socket.end();
    else if ("resetAndDestroy" in socket && typeof socket.resetAndDestroy === "function")
      socket.resetAndDestroy();
  }
}

async function serve(proxy: Proxy, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { fault } = proxy;
  const body = await text(request);
  const calls = callsOf(body);
  proxy.calls += calls.length;
  if (fault?.kind === "hang" && calls.some((call) => fault.only?.(call) ?? true)) {
    proxy.hits += calls.length;
    return;
  }
  if (fault !== undefined && WHOLE.has(fault.kind)) proxy.hits += calls.length;
  if (fault?.kind === "delay") await new Promise((resolve) => setTimeout(resolve, fault.ms));
  if (fault?.kind === "status" && calls.some((call) => fault.only?.(call) ?? true)) {
    proxy.hits += 1;
    response.writeHead(fault.status, { "content-type": "text/html" }).end("<html>injected</html>");
    return;
  }
  if (fault?.kind === "stale") await freeze(proxy);
  const height = await limitOf(proxy);
  const upstream = fault?.kind === "other-node" ? new URL(fault.url) : proxy.target;
  const reply = await forward(
    upstream,
    request,
    height !== undefined
      ? atHeight(body, height)
      : fault?.kind === "error"
        ? withoutCalls(body, fault.only)
        : body,
  );
  if (fault?.kind === "lose-broadcast" && calls.some(({ method }) => method.startsWith("broadcast_"))) {
    proxy.fault = undefined;
    proxy.hits += 1;
    request.socket.resetAndDestroy();
    return;
  }
  send(response, reply, rewritten(proxy, { calls, height }, reply.body));
}

interface Reply {
  readonly status: number;
  readonly body: string;
}

async function forward(upstream: URL, request: IncomingMessage, body: string): Promise<Reply> {
  const url = new URL(request.url ?? "/", upstream);
  const method = request.method ?? "POST";
  const response = await fetch(url, {
    method,
    headers: { "content-type": "application/json" },
    ...(method === "GET" ? {} : { body }),
  });
  return { status: response.status, body: await response.text() };
}

function send(response: ServerResponse, { status }: Reply, body: string | { readonly half: string }): void {
  const whole = typeof body === "string" ? body : body.half;
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(whole),
  });
  if (typeof body === "string") response.end(body);
  else response.write(whole.slice(0, Math.floor(whole.length / 2)), () => response.destroy());
}

function rewritten(
  proxy: Proxy,
  { calls, height }: { readonly calls: readonly IdentifiedCall[]; readonly height: bigint | undefined },
  body: string,
): string | { readonly half: string } {
  const { fault } = proxy;
  if (fault?.kind === "truncate") return { half: body };
  if (fault?.kind === "rewrite")
    return mapResults(body, calls, (call, result) => {
      const changed = fault.result(call, result);
      if (changed !== result) proxy.hits += 1;
      return changed;
    });
  if (fault?.kind === "error")
    return mapResponses(body, calls, (call, response) => {
      if (!fault.only(call)) return response;
      proxy.hits += 1;
      const error = { code: -32_603, message: "Internal error", data: fault.data };
      return { jsonrpc: "2.0", id: response["id"], error };
    });
  if (height === undefined) return body;
  return mapResults(body, calls, (call, result) =>
    call.method === "status" ? withHeight(result, height) : result,
  );
}

/** The height of the node that gets this request; undefined: the latest one. */
async function limitOf(proxy: Proxy): Promise<bigint | undefined> {
  const { fault, target } = proxy;
  if (fault?.kind === "stale") return proxy.staleHeight;
  if (fault?.kind !== "uneven") return undefined;
  proxy.requests += 1;
  if (proxy.requests % 2 === 0) return undefined;
  proxy.hits += 1;
  return (await latestHeight(target)) - fault.blocks;
}

/** Reads the height at which the node appears to have stopped. */
async function freeze(proxy: Proxy): Promise<void> {
  if (proxy.staleHeight > 0n) return;
  const height = await latestHeight(proxy.target);
  if (proxy.staleHeight === 0n) proxy.staleHeight = height;
}

async function latestHeight(target: URL): Promise<bigint> {
  const response = await fetch(new URL("/status", target));
  const height = path(await response.json(), ["result", "sync_info", "latest_block_height"]);
  return BigInt(typeof height === "string" ? height : "0");
}

function path(value: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), value);
}

interface Upgrade {
  readonly socket: Duplex;
  readonly head: Buffer;
}

const REFUSED = "HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/** Connects a WebSocket with the node byte by byte. */
function passWebSocket(proxy: Proxy, request: IncomingMessage, { socket, head }: Upgrade): void {
  const { fault, target } = proxy;
  socket.on("error", () => {});
  if (fault?.kind === "no-websocket" || fault?.kind === "status" || fault?.kind === "truncate") {
    socket.end(REFUSED);
    proxy.hits += 1;
    return;
  }
  const upstreamUrl = fault?.kind === "other-node" ? new URL(fault.url) : target;
  const upstream = connect(Number(upstreamUrl.port), upstreamUrl.hostname);
  proxy.webSockets.add(socket);
  const end = (): void => {
    proxy.webSockets.delete(socket);
    upstream.destroy();
    socket.destroy();
  };
  upstream.on("error", end).on("close", end);
  socket.on("close", end);
  upstream.write(`${requestHead(request, upstreamUrl)}\r\n`);
  upstream.write(head);
  socket.pipe(upstream);
  upstream.on("data", (chunk: Buffer) => {
    const now = proxy.fault;
    if ((now?.kind === "hang" && now.only === undefined) || now?.kind === "stale") return;
    if (now?.kind === "delay") setTimeout(() => socket.writable && socket.write(chunk), now.ms);
    else socket.write(chunk);
  });
}

function requestHead(request: IncomingMessage, { host }: URL): string {
  const headers = Object.entries({ ...request.headers, host }).map(
    ([name, value]) => `${name}: ${String(value)}`,
  );
  return [`GET ${request.url ?? "/"} HTTP/1.1`, ...headers, ""].join("\r\n");
}
