import { type ClientHttp2Session, type IncomingHttpHeaders, connect as connectHttp2 } from "node:http2";
import { Pool } from "undici";
import { WebSocket } from "ws";
import type { Random } from "../random.ts";
import {
  asTarget,
  controlInput,
  type HttpInput,
  messageFor,
  queryBody,
  restInput,
  rpcBody,
  uriInput,
} from "./hostile-requests.ts";
import { hostileBytes, hostileNumber, hostileText, pick } from "./hostile-values.ts";
import { FUZZ_CONTROL_TOKEN, type FuzzClient, type FuzzTarget, serverCampaign } from "./target.ts";

const ANSWER_MS = 10_000;

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
        const read = (headers: IncomingHttpHeaders): void => {
          const { "grpc-message": reason, "grpc-status": status } = headers;
          if (reason !== undefined) text ||= `${String(status)} ${String(reason)}`;
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
      if (random.chance(0.02)) {
        // Mostly an invalid frame. What follows may count as its payload, so this connection gets no further messages.
        Reflect.get(socket, "_socket")?.write(Buffer.from(hostileBytes(random)));
        socket.terminate();
        return undefined;
      }
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
