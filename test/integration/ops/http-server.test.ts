import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { silentLogger } from "../../../src/base/logger.ts";
import { jsonReply, textReply, type HttpRoute } from "../../../src/ops/http-route.ts";
import { type HttpServerOptions, type OpenHttpServer, openHttpServer } from "../../../src/ops/http-server.ts";
import { createHttpService } from "../../../src/ops/http-service.ts";
import { PortInUseError } from "../../../src/ops/listen-error.ts";
import { Secret } from "../../../src/base/secret.ts";

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

function settings(extra: Partial<HttpServerOptions> = {}): HttpServerOptions {
  return {
    name: "test face",
    listen: { host: "127.0.0.1", port: 0 },
    portOption: "--test-port",
    routes: ROUTES,
    ...extra,
  };
}

async function start(extra: Partial<HttpServerOptions> = {}): Promise<string> {
  const server = await openHttpServer(settings(extra), { logger: silentLogger });
  open.push(server);
  return `http://127.0.0.1:${server.address.port}`;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

describe("openHttpServer", () => {
  it("answers routes, HEAD, unknown paths and other methods", async () => {
    const url = await start();
    expect(await (await fetch(`${url}/hello?name=you`)).text()).toBe("hello you");
    const head = await fetch(`${url}/hello?name=you`, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, "9", ""]);
    const none = await fetch(`${url}/nothing`);
    expect([none.status, await none.json()]).toEqual([
      404,
      { error: "not-found", message: "nothing is at /nothing" },
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

  it("bounds bodies, declared or not", async () => {
    const url = await start({ token: new Secret("t"), bodyLimitBytes: 10 });
    const headers = { authorization: "Bearer t" };
    const declared = await fetch(`${url}/faults/x`, { method: "POST", headers, body: "x".repeat(11) });
    expect([declared.status, await declared.json()]).toEqual([
      413,
      { error: "body-too-large", message: "the request body is larger than 10 bytes" },
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

  it("turns a fault of a route into a 500 without its stack", async () => {
    const url = await start();
    const reply = await fetch(`${url}/broken`);
    expect([reply.status, await reply.json()]).toEqual([
      500,
      { error: "internal", message: "the request failed: no luck" },
    ]);
  });

  it("closes although an answer is still open, and twice", async () => {
    const url = await start({ closeTimeoutMs: 50 });
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

  it("names a busy port, its holder and the option that moves it", async () => {
    const url = await start();
    const port = Number(new URL(url).port);
    const attempt = openHttpServer(settings({ listen: { host: "127.0.0.1", port } }), {
      logger: silentLogger,
    });
    const error = await attempt.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(PortInUseError);
    if (!(error instanceof PortInUseError)) return;
    expect(error.message).toContain(`needs port ${port} on 127.0.0.1`);
    expect(error.message).toContain("--test-port");
    expect(error.facts.holder).toContain(`process ${process.pid}`);
  });

  it("says what is wrong with an address of another machine", async () => {
    const attempt = openHttpServer(settings({ listen: { host: "192.0.2.1", port: 0 } }), {
      logger: silentLogger,
    });
    await expect(attempt).rejects.toThrow(/cannot listen on 192\.0\.2\.1:0: .*--test-port/);
  });
});

describe("createHttpService", () => {
  it("is ready once bound and ends when asked to", async () => {
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
