import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { Pool } from "undici";
import { WebSocket } from "ws";
import { RPC_METHODS, WEBSOCKET_METHODS } from "../../../src/node/rpc/json-rpc.ts";
import { httpRules } from "../../../src/proto/http-rules.ts";
import { findService, requireMessage } from "../../../src/proto/registry.ts";
import { toCanonicalTypeUrl, toChainRestPath } from "../../../src/proto/type-urls.ts";
import type { Random } from "../random.ts";
import { hostileMessage } from "./hostile-message.ts";
import {
  damaged,
  hostileBytes,
  hostileJson,
  hostileNumber,
  hostileText,
  pick,
  several,
} from "./hostile-values.ts";
import { FUZZ_CONTROL_TOKEN, type FuzzClient, type FuzzTarget, serverCampaign } from "./target.ts";

const ANSWER_MS = 10_000;
const CHAIN_NAME = "neutron";

interface HttpInput {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends HTTP requests over one connection. `isBug` judges the answer. */
function httpClient(
  url: string,
  draw: (random: Random) => HttpInput,
  isBug: (status: number, body: string) => boolean,
): FuzzClient {
  const pool = new Pool(url, { connections: 1, headersTimeout: ANSWER_MS, bodyTimeout: ANSWER_MS });
  return {
    send: async (random) => {
      const input = draw(random);
      try {
        const { statusCode, body } = await pool.request({ ...input, body: input.body ?? null });
        const text = await body.text();
        return isBug(statusCode, text)
          ? `${statusCode} ${text.slice(0, 200)} for ${describe(input)}`
          : undefined;
      } catch (error) {
        return `no answer: ${String(error)} for ${describe(input)}`;
      }
    },
    close: () => pool.close(),
  };
}

function describe(input: HttpInput): string {
  return JSON.stringify(input).slice(0, 500);
}

/** The RPC answers its own errors with 500 and JSON; a bug has a plain text. */
function isRpcBug(status: number, body: string): boolean {
  return status >= 500 && !body.startsWith("{");
}

/** In gRPC, an unknown error is HTTP 500 as well. Status 13 with this text is a bug. */
function isGatewayBug(status: number, body: string): boolean {
  return status >= 500 && (!body.startsWith("{") || body.includes("internal error"));
}

/** Names of the parameters of the methods. broadcast_tx_commit waits for a block, so the campaigns leave it out. */
const METHODS: readonly (readonly [string, readonly string[]])[] = [
  ...[...RPC_METHODS].map(
    ([name, { parameters }]) => [name, parameters.map(([parameter]) => parameter)] as const,
  ),
  ...WEBSOCKET_METHODS,
].filter(([name]) => name !== "broadcast_tx_commit");

function rpcRequest(random: Random): unknown {
  const [method, names] = pick(random, METHODS);
  const value = (): unknown =>
    random.chance(0.3)
      ? hostileNumber(random)
      : random.chance(0.7)
        ? hostileText(random)
        : hostileJson(random);
  const params = random.chance(0.2)
    ? several(random, 5, value)
    : Object.fromEntries(names.filter(() => random.chance(0.7)).map((name) => [name, value()]));
  return {
    jsonrpc: "2.0",
    id: random.chance(0.9) ? random.int(1_000) : hostileJson(random),
    method: random.chance(0.95) ? method : hostileText(random),
    params: random.chance(0.95) ? params : hostileJson(random),
  };
}

function rpcBody(random: Random): string {
  const request = random.chance(0.15) ? several(random, 12, () => rpcRequest(random)) : rpcRequest(random);
  const text = JSON.stringify(random.chance(0.97) ? request : hostileJson(random)) ?? "";
  return random.chance(0.15) ? damaged(random, text) : text;
}

function uriInput(random: Random): HttpInput {
  const [method, names] = pick(random, METHODS);
  const wrap = pick(random, [
    (text: string) => text,
    (text: string) => `"${text}"`,
    (text: string) => `0x${text}`,
  ]);
  const values = names
    .filter(() => random.chance(0.8))
    .map((name) => {
      const text = wrap(random.chance(0.4) ? hostileNumber(random) : hostileText(random));
      return `${name}=${random.chance(0.9) ? percent(text) : encodeURI(wellFormed(text))}`;
    });
  return { method: pick(random, ["GET", "GET", "POST"]), path: asTarget(`/${method}?${values.join("&")}`) };
}

/** Replaces lone surrogates, which no URL can carry. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}

function percent(text: string): string {
  return encodeURIComponent(wellFormed(text));
}

/** A request target that an HTTP client sends: without control characters, spaces and fragments. */
function asTarget(path: string): string {
  return path.replaceAll(/[^\u0021-\u007e]|#/g, "_").slice(0, 8_000);
}

function queryBody({ node }: FuzzTarget, random: Random): string {
  const paths = node.router.paths;
  const path = random.chance(0.85)
    ? pick(random, paths)
    : pick(random, [
        "/store/bank/key",
        "/store/x/key",
        "/store/ibc/subspace",
        "/app/version",
        "/app/simulate",
        "/p2p/filter/addr/1",
        hostileText(random),
      ]);
  const params = {
    path,
    data: Buffer.from(messageFor(path, random)).toString("hex"),
    height: random.chance(0.6) ? "0" : hostileNumber(random),
    prove: random.chance(0.3),
  };
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "abci_query", params });
}

/** An encoded request of a gRPC method, or junk for a path of no method. */
function messageFor(path: string, random: Random): Uint8Array {
  const [service = "", rpc] = (toCanonicalTypeUrl(path.slice(1), CHAIN_NAME) ?? "").split("/");
  const method = findService(service)?.methods.find(({ name }) => name === rpc);
  if (method === undefined || random.chance(0.05)) return hostileBytes(random);
  return hostileMessage(random, requireMessage(method.requestType));
}

const RULES = httpRules();

function restInput(random: Random): HttpInput {
  const rule = pick(random, RULES);
  const segment = (): string => percent(hostileText(random));
  const path = toChainRestPath(rule.template, CHAIN_NAME).replaceAll(/\{[^}]+\}/g, segment);
  const names = requireMessage(rule.requestType).fields.map(({ name }) => name);
  const all = [...names, "pagination.limit", "pagination.key", "pagination.reverse", hostileText(random)];
  const query = several(random, 5, () => {
    const value = random.chance(0.4) ? hostileNumber(random) : hostileText(random);
    return `${percent(pick(random, all))}=${percent(value)}`;
  });
  const method = random.chance(0.9) ? rule.method : pick(random, ["GET", "POST", "PUT", "DELETE"]);
  const body = JSON.stringify(
    Object.fromEntries(names.filter(() => random.chance(0.8)).map((name) => [name, hostileJson(random)])),
  );
  return {
    method,
    path: asTarget(`${path}?${query.join("&")}`),
    ...(method === "GET" ? {} : { body: random.chance(0.2) ? damaged(random, body) : body }),
    headers: random.chance(0.2) ? { "x-cosmos-block-height": asTarget(hostileNumber(random)) } : {},
  };
}

/** Calls methods over one HTTP/2 connection. */
function grpcClient({ node, grpcPort }: FuzzTarget): FuzzClient {
  const open = (): ClientHttp2Session => connectHttp2(`http://127.0.0.1:${grpcPort}`).on("error", () => {});
  let session = open();
  const { paths } = node.router;
  return {
    send: (random) => {
      if (session.closed || session.destroyed) session = open();
      const path = random.chance(0.95) ? pick(random, paths) : asTarget(`/${hostileText(random)}`);
      const message = Buffer.from(messageFor(path, random));
      const length = random.chance(0.95) ? message.length : random.int(1_000_000);
      const prefix = Buffer.from([random.chance(0.98) ? 0 : random.int(256), 0, 0, 0, 0]);
      prefix.writeUInt32BE(length, 1);
      return new Promise((resolve) => {
        const stream = session.request({
          ":method": "POST",
          ":path": path,
          "content-type": "application/grpc",
          te: "trailers",
          ...(random.chance(0.2) ? { "x-cosmos-block-height": asTarget(hostileNumber(random)) } : {}),
        });
        let text = "";
        const read = (headers: Readonly<Record<string, unknown>>): void => {
          text ||=
            headers["grpc-message"] === undefined
              ? ""
              : `${headers["grpc-status"]} ${headers["grpc-message"]}`;
        };
        const timer = setTimeout(() => resolve(`no answer from ${path}`), ANSWER_MS);
        stream.on("response", read);
        stream.on("trailers", read);
        stream.on("error", () => {});
        stream.on("close", () => {
          clearTimeout(timer);
          resolve(text === "13 internal error" ? `${text} from ${path}` : undefined);
        });
        stream.resume();
        stream.end(Buffer.concat([prefix, message]));
      });
    },
    close: () => session.destroy(),
  };
}

/** Sends messages over a WebSocket, and opens a new one when the node has closed it. */
async function webSocketClient(target: FuzzTarget): Promise<FuzzClient> {
  const open = async (): Promise<WebSocket> => {
    const socket = new WebSocket(`${target.url("rpc").replace("http", "ws")}/websocket`);
    socket.on("error", () => {});
    await new Promise((resolve) => socket.once("open", resolve).once("close", resolve));
    return socket;
  };
  let socket = await open();
  return {
    send: async (random) => {
      if (socket.readyState !== WebSocket.OPEN) socket = await open();
      const mark = `probe-${random.int(2 ** 31)}`;
      const answered = new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(false), ANSWER_MS);
        const finish = (): void => {
          clearTimeout(timer);
          socket.off("message", listen).off("close", finish);
          resolve(true);
        };
        const listen = (data: Buffer): void => {
          if (data.includes(mark)) finish();
        };
        socket.on("message", listen).on("close", finish);
      });
      sendHostile(socket, random);
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: mark, method: "health" }));
      return (await answered) ? undefined : "no answer";
    },
    close: () => socket.terminate(),
  };
}

function sendHostile(socket: WebSocket, random: Random): void {
  if (random.chance(0.03)) return socket.ping(hostileText(random).slice(0, 30));
  if (random.chance(0.05)) return socket.send(hostileBytes(random));
  socket.send(rpcBody(random));
  // An invalid frame, which closes the connection.
  if (random.chance(0.02)) Reflect.get(socket, "_socket")?.write(Buffer.from(hostileBytes(random)));
}

const COMMANDS = ["halt", "resume", "blocks", "absent", "validators", "faucet", "nothing"];
const CHAINS = ["local-1", "local-1", "remote-1", "local-2", "__proto__"];

function controlInput(random: Random): HttpInput {
  const value = (): unknown => (random.chance(0.5) ? hostileNumber(random) : hostileJson(random));
  const body = JSON.stringify({
    ...(random.chance(0.7) ? { count: random.chance(0.5) ? 1 : value() } : {}),
    ...(random.chance(0.7) ? { validators: random.chance(0.3) ? [] : value() } : {}),
    ...(random.chance(0.7) ? { index: random.chance(0.5) ? random.int(6) : value() } : {}),
    ...(random.chance(0.5) ? { seed: random.chance(0.2) ? "ab".repeat(32) : value() } : {}),
    ...(random.chance(0.7) ? { power: random.chance(0.5) ? String(random.int(20)) : value() } : {}),
    ...(random.chance(0.7) ? { address: value() } : {}),
    ...(random.chance(0.7) ? { amount: value() } : {}),
  });
  const isRead = random.chance(0.1);
  return {
    method: isRead ? "GET" : "POST",
    path: isRead ? "/chains" : asTarget(`/chains/${pick(random, CHAINS)}/${pick(random, COMMANDS)}`),
    ...(isRead ? {} : { body: random.chance(0.15) ? damaged(random, body) : body }),
    headers: random.chance(0.95) ? { authorization: `Bearer ${FUZZ_CONTROL_TOKEN}` } : {},
  };
}

async function controlClient({ controlUrl }: FuzzTarget): Promise<FuzzClient> {
  const client = httpClient(controlUrl, controlInput, (status) => status >= 500);
  const order = (name: string, body: string): Promise<unknown> =>
    fetch(`${controlUrl}/chains/local-1/${name}`, {
      method: "POST",
      body,
      headers: { authorization: `Bearer ${FUZZ_CONTROL_TOKEN}` },
    });
  return {
    send: client.send,
    close: async () => {
      await order("absent", '{"validators": []}');
      await order("resume", "");
      await client.close();
    },
  };
}

/** Campaigns against the servers of a chain, by name. */
export const SERVER_CAMPAIGNS = {
  rpc: serverCampaign((target) =>
    httpClient(
      target.url("rpc"),
      (random) => ({ method: "POST", path: "/", body: rpcBody(random) }),
      isRpcBug,
    ),
  ),
  uri: serverCampaign((target) => httpClient(target.url("rpc"), uriInput, isRpcBug)),
  abci_query: serverCampaign((target) =>
    httpClient(
      target.url("rpc"),
      (random) => ({ method: "POST", path: "/", body: queryBody(target, random) }),
      isRpcBug,
    ),
  ),
  rest: serverCampaign((target) => httpClient(target.url("rest"), restInput, isGatewayBug)),
  grpc: serverCampaign(grpcClient),
  websocket: serverCampaign(webSocketClient),
  control: serverCampaign(controlClient),
};
