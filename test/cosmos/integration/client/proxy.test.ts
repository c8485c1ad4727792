import { createServer, request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { stringifyJson } from "../../../../src/platform/base/json.ts";
import { systemClock } from "../../../../src/platform/base/clock.ts";
import { silentLogger } from "../../../../src/platform/base/logger.ts";
import { createChainClient } from "../../../../src/cosmos/client/create-chain-client.ts";
import { parseEndpoints } from "../../../../src/cosmos/client/endpoint.ts";
import { createEventSocketOpener } from "../../../../src/cosmos/client/events/event-session.ts";
import { silentObserver } from "../../../../src/cosmos/client/rpc-caller.ts";
import { answerCalls, boundPort, startRpcServer, statusResult } from "../../../support/client/rpc-server.ts";
import { startEventServer } from "../../../support/client/event-server.ts";

const signal = new AbortController().signal;
const opened: { readonly close: () => unknown }[] = [];

afterEach(async () => {
  for (const resource of opened.splice(0)) await resource.close();
});

/** A proxy that knows one host, which no DNS has: `rpc.test` is this machine. Requires the password "p" of the user "u". */
async function startProxy(): Promise<{ readonly url: string; readonly seen: string[] }> {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const isAllowed = (header: string | undefined): boolean =>
    header === `Basic ${Buffer.from("u:p").toString("base64")}`;
  const server = createServer((request, response) => {
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
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
  });
  server.on("connect", (request, socket) => {
    const [, port] = (request.url ?? "").split(":");
    seen.push(`CONNECT ${request.url}`);
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
  opened.push({
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  return { url: `127.0.0.1:${boundPort(server.address())}`, seen };
}

describe("an endpoint behind a proxy of the environment", () => {
  it.each([
    ["u:p@", "test-1"],
    ["", "unreachable or refused"],
  ])("is called through it, with the credentials %j of its URL", async (credentials, expected) => {
    const proxy = await startProxy();
    const server = await startRpcServer((exchange) =>
      answerCalls(exchange, () => statusResult("test-1", 7n)),
    );
    opened.push(server);
    const environment = { HTTP_PROXY: `http://${credentials}${proxy.url}` };
    const url = `http://rpc.test:${server.port}`;
    const client = createChainClient(
      { endpoints: [{ url }], chainId: "test-1", network: { environment }, limits: { deadlineMs: 2_000 } },
      { clock: systemClock, random: Math.random, logger: silentLogger, observer: silentObserver },
    );
    opened.push(client);
    const found = await client.status(signal).then(
      ({ chainId }) => chainId,
      () => "unreachable or refused",
    );
    expect(found).toBe(expected);
    expect(proxy.seen[0]).toContain(`rpc.test:${server.port}`);
    expect(stringifyJson(client.pool.health())).not.toContain("u:p");
  });

  it("has its event stream through it too", async () => {
    const proxy = await startProxy();
    const server = await startEventServer();
    opened.push(server);
    const environment = { HTTP_PROXY: `http://u:p@${proxy.url}` };
    const [endpoint] = parseEndpoints([{ url: `http://rpc.test:${new URL(server.url).port}` }], {
      environment,
    });
    if (endpoint === undefined) throw new Error("no endpoint");
    const open = createEventSocketOpener(endpoint, { connectTimeoutMs: 2_000, maxFrameBytes: 1_000 });
    const socket = await open({ onText: () => {}, onHeartbeat: () => {}, onClosed: () => {} }, signal);
    socket.terminate();
    expect(proxy.seen).toEqual([`CONNECT rpc.test:${new URL(server.url).port}`]);
  });
});
