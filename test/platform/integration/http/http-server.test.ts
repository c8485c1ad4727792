import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { abortReason, untilAborted } from "../../../../src/platform/base/abort.ts";
import { type Logger, silentLogger } from "../../../../src/platform/base/logger.ts";
import { createDeferred } from "../../../../src/platform/process/deferred.ts";
import {
  type HttpRequest,
  HttpRequestError,
  type HttpRoute,
  jsonReply,
  textReply,
} from "../../../../src/platform/http/http-route.ts";
import {
  createHttpService,
  openRouteServer,
  ROUTE_SERVER_LIMITS,
  type RouteServerOptions,
} from "../../../../src/platform/http/route-server.ts";
import {
  type HttpServerOptions,
  type OpenHttpServer,
  openHttpServer,
} from "../../../../src/platform/http/http-server.ts";
import { Secret } from "../../../../src/platform/base/secret.ts";

const open: OpenHttpServer[] = [];

const ROUTES: readonly HttpRoute[] = [
  { method: "GET", path: "/hello", handle: ({ query }) => textReply(200, `hello ${query.get("name")}`) },
  {
    method: "POST",
    path: "/faults/:name",
    guarded: true,
    handle: ({ params, body }) => jsonReply(200, { ...params, bytes: body.length, big: 10n ** 20n }),
  },
  { method: "GET", path: "/broken", handle: () => Promise.reject(new Error("no luck")) },
  {
    method: "GET",
    path: "/hang",
    handle: ({ signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  },
];

function settings(extra: Partial<RouteServerOptions> = {}): RouteServerOptions {
  return {
    name: "test server",
    listen: { host: "127.0.0.1", port: 0 },
    portOption: "--test-port",
    routes: ROUTES,
    ...extra,
  };
}

async function start(extra: Partial<RouteServerOptions> = {}): Promise<string> {
  const server = await openRouteServer(settings(extra), { logger: silentLogger });
  open.push(server);
  return `http://127.0.0.1:${server.address.port}`;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

describe("openRouteServer", () => {
  it("serves routes, HEAD, unknown paths and other methods", async () => {
    const url = await start();
    expect(await (await fetch(`${url}/hello?name=you`)).text()).toBe("hello you");
    const head = await fetch(`${url}/hello?name=you`, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, "9", ""]);
    const none = await fetch(`${url}/nothing`);
    expect([none.status, await none.json()]).toEqual([
      404,
      { error: "not-found", message: "not found: /nothing" },
    ]);
    const other = await fetch(`${url}/hello`, { method: "DELETE" });
    expect([other.status, other.headers.get("allow")]).toEqual([405, "GET"]);
  });

  it("guards routes that change something", async () => {
    const url = await start({ token: new Secret("right") });
    const post = (authorization?: string) =>
      fetch(`${url}/faults/a%20b`, {
        method: "POST",
        body: "xyz",
        ...(authorization === undefined ? {} : { headers: { authorization } }),
      });
    expect((await post()).status).toBe(401);
    expect((await post("Bearer wrong")).status).toBe(401);
    expect((await post("Basic right")).headers.get("www-authenticate")).toBe("Bearer");
    const good = await post("Bearer right");
    expect([good.status, await good.json()]).toEqual([
      200,
      { name: "a b", bytes: 3, big: "100000000000000000000" },
    ]);
    const closed = await start();
    expect(
      (await fetch(`${closed}/faults/x`, { method: "POST", headers: { authorization: "Bearer right" } }))
        .status,
    ).toBe(403);
  });

  it("checks the token before it reads the body", async () => {
    const url = await start({ token: new Secret("t"), limits: { maxBodyBytes: 10 } });
    expect((await fetch(`${url}/faults/x`, { method: "POST", body: "x".repeat(11) })).status).toBe(401);
  });

  it("bounds bodies, declared or not", async () => {
    const url = await start({ token: new Secret("t"), limits: { maxBodyBytes: 10 } });
    const headers = { authorization: "Bearer t" };
    const declared = await fetch(`${url}/faults/x`, { method: "POST", headers, body: "x".repeat(11) });
    expect([declared.status, await declared.json()]).toEqual([
      413,
      { error: "body-too-large", message: "the request body exceeds 10 bytes" },
    ]);
    const chunked = new ReadableStream({
      start(controller) {
        for (let index = 0; index < 20; index++) controller.enqueue(new TextEncoder().encode("x"));
        controller.close();
      },
    });
    const streamed = await fetch(`${url}/faults/x`, {
      method: "POST",
      headers,
      body: chunked,
      duplex: "half",
    });
    expect(streamed.status).toBe(413);
  });

  it("replies 500 without a stack when a route fails", async () => {
    const url = await start();
    const reply = await fetch(`${url}/broken`);
    expect([reply.status, await reply.json()]).toEqual([
      500,
      { error: "internal", message: "the request failed: no luck" },
    ]);
  });

  it("closes while a request is open, and twice", async () => {
    const url = await start({ limits: { closeGraceMs: 50 } });
    const hanging = fetch(`${url}/hang`).then(
      () => "answered",
      () => "cut",
    );
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.on("error", () => {});
    await new Promise((resolve) => socket.once("connect", resolve));
    const server = open[0];
    await Promise.all([server?.close(), server?.close()]);
    expect(await hanging).toBe("cut");
    await expect(fetch(url)).rejects.toThrow();
    socket.destroy();
  });

  it("names a busy port, its holder and the option that changes it", async () => {
    const url = await start();
    const port = Number(new URL(url).port);
    const attempt = openRouteServer(settings({ listen: { host: "127.0.0.1", port } }), {
      logger: silentLogger,
    });
    await expect(attempt).rejects.toMatchObject({
      message: expect.stringMatching(
        new RegExp(`^test server needs port ${port} on 127\\.0\\.0\\.1, but .* --test-port$`),
      ),
      facts: { code: "port-in-use", port, holder: expect.stringContaining(`process ${process.pid}`) },
    });
  });

  it("reports an address of another machine", async () => {
    const attempt = openRouteServer(settings({ listen: { host: "192.0.2.1", port: 0 } }), {
      logger: silentLogger,
    });
    await expect(attempt).rejects.toThrow(/cannot listen on 192\.0\.2\.1:0: .*--test-port/);
  });
});

describe("openHttpServer", () => {
  const errors: string[] = [];
  const logger: Logger = { ...silentLogger, error: (message) => errors.push(message) };
  afterEach(() => errors.splice(0));

  async function listen(
    handle: HttpServerOptions["handle"],
    extra: Partial<HttpServerOptions> = {},
  ): Promise<number> {
    const server = await openHttpServer(
      {
        name: "plain",
        listen: { host: "127.0.0.1", port: 0 },
        portOption: "--test-port",
        limits: { ...ROUTE_SERVER_LIMITS, maxBodyBytes: 10, closeGraceMs: 50 },
        handle,
        failureReply: (error) =>
          error instanceof HttpRequestError
            ? textReply(error.facts.status, error.facts.code)
            : textReply(500, "failed"),
        ...extra,
      },
      { logger },
    );
    open.push(server);
    return server.address.port;
  }

  /** Sends bytes as they are and returns everything up to the end of the connection. */
  function raw(port: number, bytes: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1");
      let text = "";
      socket.on("data", (chunk) => (text += chunk.toString()));
      socket.on("error", reject);
      socket.on("close", () => resolve(text));
      socket.write(bytes);
    });
  }

  const head = (target: string): string =>
    `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;

  it.each([
    ["/a%20b?c=d", "/a%20b ?c=d"],
    ["//host/path", "//host/path "],
    ["http://elsewhere/path?c=d", "/path ?c=d"],
  ])("reads the target %s", async (target, expected) => {
    const port = await listen(({ url }) => textReply(200, `${url.pathname} ${url.search}`));
    const reply = await raw(port, head(target));
    expect(reply).toMatch(/^HTTP\/1\.1 200 OK\r\nContent-Length: \d+\r\n/);
    expect(reply.split("\r\n\r\n")[1]).toBe(expected);
  });

  it("rejects another target, and leaves the text to the hook", async () => {
    const port = await listen(() => textReply(200, "never"));
    const reply = await raw(port, "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n");
    expect(reply).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(reply).toMatch(/Connection: close\r\n[^]*\r\n\r\nbad-request$/);
    expect(errors).toEqual([]);
  });

  it.each([
    ["declared", "Content-Length: 11\r\n\r\n"],
    ["chunked", `Transfer-Encoding: chunked\r\n\r\nb\r\n${"x".repeat(11)}\r\n`],
  ])("rejects a %s body over the limit before it has arrived, and closes", async (_form, rest) => {
    const port = await listen(async (request) => textReply(200, String((await request.readBody()).length)));
    const reply = await raw(port, `POST / HTTP/1.1\r\nHost: localhost\r\n${rest}`);
    expect(reply).toMatch(/^HTTP\/1\.1 413 Payload Too Large\r\n/);
    expect(reply).toMatch(/Connection: close\r\n[^]*\r\n\r\nbody-too-large$/);
    expect(errors).toEqual([]);
  });

  it("logs a failed handler and leaves the text to the hook", async () => {
    const port = await listen(() => Promise.reject(new Error("no luck")));
    const reply = await fetch(`http://127.0.0.1:${port}/`);
    expect([reply.status, await reply.text()]).toEqual([500, "failed"]);
    expect(errors).toEqual(["http request failed"]);
  });

  it("aborts the signal of a request whose client disconnects, and does not log it", async () => {
    const started = createDeferred<HttpRequest>();
    const ended = createDeferred<string>();
    const port = await listen(async (request) => {
      started.resolve(request);
      await untilAborted(request.signal);
      ended.resolve(abortReason(request.signal).message);
      throw abortReason(request.signal);
    });
    const socket = connect(port, "127.0.0.1");
    socket.write(head("/"));
    await started.promise;
    socket.destroy();
    expect(await ended.promise).toBe("the client has disconnected");
    expect(errors).toEqual([]);
  });

  it("gives an aborted signal to a handler that asks for it too late", async () => {
    const started = createDeferred<HttpRequest>();
    const asked = createDeferred<void>();
    const port = await listen(async (request) => {
      started.resolve(request);
      await asked.promise;
      return textReply(200, "nobody reads this");
    });
    const socket = connect(port, "127.0.0.1");
    socket.write(head("/"));
    const request = await started.promise;
    socket.destroy();
    await expect.poll(() => request.signal.aborted).toBe(true);
    asked.resolve();
  });

  it("does not log a client that disconnects in the middle of its body", async () => {
    const failed = createDeferred<void>();
    const port = await listen(async (request) => {
      await request.readBody().catch((error: unknown) => {
        failed.resolve();
        throw error;
      });
      return textReply(200, "never");
    });
    const socket = connect(port, "127.0.0.1");
    socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf");
    await new Promise((resolve) => setTimeout(resolve, 20));
    socket.destroy();
    await failed.promise;
    expect(errors).toEqual([]);
  });

  it("passes upgrades on, and ignores them without a handler", async () => {
    const ask = `GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n`;
    const handle = (): ReturnType<typeof textReply> => ({
      ...textReply(200, "plain"),
      headers: { Connection: "close" },
    });
    expect(await raw(await listen(handle), ask)).toMatch(/^HTTP\/1\.1 200 OK/);
    const port = await listen(handle, {
      upgrade: (_request, socket) => socket.end("HTTP/1.1 418 Teapot\r\n\r\n"),
    });
    expect(await raw(port, ask)).toMatch(/^HTTP\/1\.1 418 Teapot/);
  });
});

describe("createHttpService", () => {
  it("is ready once bound and ends when its signal aborts", async () => {
    const stop = new AbortController();
    const service = createHttpService(settings(), { logger: silentLogger });
    const run = service.run(stop.signal);
    const { port } = await service.ready;
    expect((await fetch(`http://127.0.0.1:${port}/hello`)).status).toBe(200);
    stop.abort();
    await run;
    await expect(fetch(`http://127.0.0.1:${port}/hello`)).rejects.toThrow();
  });
});
