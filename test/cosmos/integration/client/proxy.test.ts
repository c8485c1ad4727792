import { afterEach, describe, expect, it, vi } from "vitest";
import type { Socket } from "node:net";
import { stringifyJson } from "../../../../src/platform/base/json.ts";
import { errorText } from "../../../../src/platform/base/errors.ts";
import { Secret } from "../../../../src/platform/base/secret.ts";
import { systemClock } from "../../../../src/platform/base/clock.ts";
import { silentLogger } from "../../../../src/platform/base/logger.ts";
import { createChainClient } from "../../../../src/cosmos/client/create-chain-client.ts";
import { parseEndpoints } from "../../../../src/cosmos/client/endpoint.ts";
import type { Endpoint, NetworkOptions } from "../../../../src/platform/http/remote.ts";
import { createEventSocketOpener } from "../../../../src/cosmos/client/events/event-session.ts";
import { silentObserver } from "../../../../src/cosmos/client/rpc-caller.ts";
import { type ConnectProxy, startConnectProxy } from "../../../support/client/connect-proxy.ts";
import { type EventServer, startEventServer } from "../../../support/client/event-server.ts";
import { fixtureText } from "../../../support/client/fixture.ts";
import { answerCalls, startRpcServer, statusResult } from "../../../support/client/rpc-server.ts";

const signal = new AbortController().signal;
const opened: { readonly close: () => unknown }[] = [];

afterEach(async () => {
  for (const resource of opened.splice(0)) await resource.close();
});

const identity = { cert: fixtureText("tls/server.pem"), key: fixtureText("tls/server.key") };
const ca = fixtureText("tls/ca.pem");

async function startProxy(options?: Parameters<typeof startConnectProxy>[0]): Promise<ConnectProxy> {
  const proxy = await startConnectProxy(options);
  opened.push(proxy);
  return proxy;
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

const HOSTILE = { HTTPS_PROXY: "http://127.0.0.1:1", HTTP_PROXY: "http://127.0.0.1:1" };

/** Returns "connected", or why not, over HTTP and over WebSocket. */
async function reach(url: string, network: NetworkOptions, headers: Endpoint["headers"] = {}) {
  const client = createChainClient(
    { endpoints: [{ url, headers, name: "n" }], chainId: "test-1", network },
    { clock: systemClock, random: Math.random, logger: silentLogger, observer: silentObserver },
  );
  opened.push(client);
  const [endpoint] = parseEndpoints([{ url, headers, name: "n" }], network);
  if (endpoint === undefined) throw new Error("no endpoint");
  const open = createEventSocketOpener(endpoint, { connectTimeoutMs: 3_000, maxFrameBytes: 1_000 });
  const listener = { onText: () => {}, onHeartbeat: () => {}, onClosed: () => {} };
  const outcome = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => "connected",
      (error: unknown) => errorText(error),
    );
  return {
    close: client.close,
    http: () => outcome(client.status(signal)),
    socket: () => outcome(open(listener, signal).then((socket) => socket.terminate())),
  };
}

describe("an endpoint with a certificate of a private authority", () => {
  const setUp = async () => {
    const rpc = await startRpcServer(
      (exchange) => answerCalls(exchange, () => statusResult("test-1", 7n)),
      0,
      identity,
    );
    const events = await startEventServer({ identity });
    opened.push(rpc, events);
    return { rpc: new URL(rpc.url).port, events: new URL(events.url).port };
  };

  it.each([
    ["localhost", ca, "connected"],
    ["127.0.0.1", ca, "connected"],
    ["localhost", undefined, "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
    // Another name of this machine, which the certificate does not have.
    ["127.0.0.2.nip.test", ca, "ENOTFOUND"],
  ])("at %s is reached only with the authority", async (host, trusted, expected) => {
    const ports = await setUp();
    const network = { ca: trusted, environment: host === "localhost" ? HOSTILE : {} };
    expect(await (await reach(`https://${host}:${ports.rpc}`, network)).http()).toContain(expected);
    expect(await (await reach(`https://${host}:${ports.events}`, network)).socket()).toContain(expected);
  });

  it("is unreachable through a proxy that refuses, which the error names", async () => {
    const { http } = await reach("https://rpc.test:26657", { environment: HOSTILE });
    expect(await http()).toContain("n, through the proxy 127.0.0.1:1, is unreachable");
  });

  it("is reached through a proxy by CONNECT, unless NO_PROXY exempts it", async () => {
    const ports = await setUp();
    const proxy = await startProxy();
    const environment = { HTTPS_PROXY: `http://u:p@${proxy.url}` };
    const [http, socket] = [`https://rpc.test:${ports.rpc}`, `https://rpc.test:${ports.events}`];
    expect(await (await reach(http, { ca, environment })).http()).toBe("connected");
    expect(await (await reach(socket, { ca, environment })).socket()).toBe("connected");
    expect(proxy.seen).toEqual([`CONNECT rpc.test:${ports.rpc}`, `CONNECT rpc.test:${ports.events}`]);
    // The proxy is not trusted with the endpoint's name.
    for (const [url, kind] of [
      [http, "http"],
      [socket, "socket"],
    ] as const) {
      expect(await (await reach(url, { environment }))[kind]()).toContain("UNABLE_TO_VERIFY_LEAF_SIGNATURE");
      const exempt = { ...environment, NO_PROXY: "rpc.test" };
      expect(await (await reach(url, { ca, environment: exempt }))[kind]()).toContain("ENOTFOUND");
    }
    expect(proxy.seen.filter((line) => line !== proxy.seen[0] && line !== proxy.seen[1])).toEqual([]);
  });
});

describe("a proxy with a certificate of a private authority", () => {
  it("is used with the authority only", async () => {
    const rpc = await startRpcServer(
      (exchange) => answerCalls(exchange, () => statusResult("test-1", 7n)),
      0,
      identity,
    );
    const events = await startEventServer({ identity });
    const proxy = await startProxy({ identity });
    opened.push(rpc, events);
    const environment = { HTTPS_PROXY: `https://u:p@${proxy.url}` };
    for (const [port, kind] of [
      [rpc.port, "http"],
      [events.port, "socket"],
    ] as const) {
      const url = `https://rpc.test:${port}`;
      expect(await (await reach(url, { ca, environment }))[kind]()).toBe("connected");
      expect(await (await reach(url, { environment }))[kind]()).toContain("UNABLE_TO_VERIFY_LEAF_SIGNATURE");
    }
    expect(proxy.seen).toEqual([`CONNECT rpc.test:${rpc.port}`, `CONNECT rpc.test:${events.port}`]);
  });
});

describe("a client that is closed", () => {
  it("leaves no connection open", async () => {
    const rpc = await startRpcServer((exchange) => answerCalls(exchange, () => statusResult("test-1", 7n)));
    opened.push(rpc);
    rpc.server.keepAliveTimeout = 60_000;
    const open = new Set<Socket>();
    rpc.server.on("connection", (socket) => {
      open.add(socket);
      socket.on("close", () => open.delete(socket));
    });
    const { http, close } = await reach(rpc.url, {});
    expect(await http()).toBe("connected");
    expect(open.size).toBe(1);
    close();
    await vi.waitFor(() => expect(open.size).toBe(0), 3_000);
  });
});

describe("a proxy that never responds", () => {
  it("ends the connection attempt of an event stream at its deadline", async () => {
    const proxy = await startProxy({ isMute: true });
    const environment = { HTTP_PROXY: `http://u:p@${proxy.url}`, HTTPS_PROXY: `http://u:p@${proxy.url}` };
    for (const url of ["http://rpc.test", "https://rpc.test"])
      expect(await (await reach(url, { environment })).socket()).toMatch(/unreachable/);
  });
});

describe("an endpoint that redirects", () => {
  /** Redirects to the URL that `to` returns. */
  const startRedirect = async (to: (path: string) => string | undefined, status = 308) => {
    const seen: string[] = [];
    const rpc = await startRpcServer((exchange) => {
      const { request, response } = exchange;
      seen.push(`${request.url} ${String(request.headers["x-api-key"])}`);
      const location = to(request.url ?? "");
      if (location === undefined) return answerCalls(exchange, () => statusResult("test-1", 7n));
      return void response.writeHead(status, { location }).end();
    });
    rpc.server.on("upgrade", (request, socket) => {
      seen.push(`${request.url} ${String(request.headers["x-api-key"])}`);
      socket.end(
        `HTTP/1.1 ${status} Moved\r\nlocation: ${to(request.url ?? "")}\r\ncontent-length: 0\r\n\r\n`,
      );
    });
    opened.push(rpc);
    return { url: rpc.url, seen };
  };
  const headers = { "x-api-key": new Secret("k3y") };
  let events: EventServer | undefined;

  it("to the same host is followed with its headers", async () => {
    const { url, seen } = await startRedirect((path) => (path === "/moved" ? undefined : "/moved"));
    expect(await (await reach(`${url}/old`, {}, headers)).http()).toBe("connected");
    // The new address is remembered.
    expect(seen).toEqual(["/old k3y", "/moved k3y", "/moved k3y"]);
  });

  it("has its event stream followed to the same host with its headers", async () => {
    const keys: unknown[] = [];
    events = await startEventServer({ onUpgrade: (request) => keys.push(request.headers["x-api-key"]) });
    opened.push(events);
    const target = events.url.replace("http", "ws");
    const { url, seen } = await startRedirect(() => `${target}/websocket`, 301);
    expect(await (await reach(url, {}, headers)).socket()).toBe("connected");
    expect(seen).toEqual(["/websocket k3y"]);
    expect(keys).toEqual(["k3y"]);
  });

  it.each([
    ["to another host", 301, "https://other.example/KEY", "redirects to https://other.example"],
    ["to itself for ever", 307, "/again", "redirects to itself"],
    ["by a method that drops the request", 303, "/moved", "redirects to itself"],
    ["to nowhere", 302, "http://[", "redirects to an invalid address"],
  ])("%s is named", async (_what, status, location, reason) => {
    const { url, seen } = await startRedirect((path) => (path === "/moved" ? undefined : location), status);
    const text = await (await reach(url, {}, headers)).http();
    expect(text).toContain(`${reason} (HTTP status ${status})`);
    expect(text).not.toContain("KEY");
    expect(seen.length).toBeLessThan(6);
  });

  it("to another host is named for its event stream", async () => {
    const { url } = await startRedirect(() => "wss://other.example/KEY/websocket", 301);
    const text = await (await reach(url, {}, headers)).socket();
    expect(text).toContain("it redirects to wss://other.example");
    expect(text).not.toContain("KEY");
  });
});
