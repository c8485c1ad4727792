import { afterEach, describe, expect, it } from "vitest";
import { silentLogger } from "../../../../src/platform/base/logger.ts";
import { errorText } from "../../../../src/platform/base/errors.ts";
import { createDeferred } from "../../../../src/platform/process/deferred.ts";
import {
  type HttpReply,
  type HttpRequest,
  HttpRequestError,
  textReply,
} from "../../../../src/platform/http/http-route.ts";
import {
  type HttpLimits,
  type HttpServerOptions,
  type OpenHttpServer,
  openHttpServer,
} from "../../../../src/platform/http/http-server.ts";
import { ROUTE_SERVER_LIMITS } from "../../../../src/platform/http/route-server.ts";
import { openRawSocket, type RawSocket } from "../../../support/raw-socket.ts";

const MB = 1_000_000;
/** More than the kernel keeps for a connection on loopback. */
const BIG = Buffer.alloc(12 * MB, "x");

const servers: OpenHttpServer[] = [];
const sockets: RawSocket[] = [];

afterEach(async () => {
  for (const { socket } of sockets.splice(0)) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** Opens a server whose path `/big` returns {@link BIG}. `calls` counts the handled requests. */
async function start(limits: Partial<HttpLimits>, extra: Partial<HttpServerOptions> = {}) {
  const calls = { big: 0, small: 0 };
  const server = await openHttpServer(
    {
      name: "hostile",
      listen: { host: "127.0.0.1", port: 0 },
      portOption: "--test-port",
      limits: { ...ROUTE_SERVER_LIMITS, closeGraceMs: 50, ...limits },
      handle: ({ url }) => {
        if (url.pathname === "/big") {
          calls.big += 1;
          return { status: 200, body: BIG };
        }
        calls.small += 1;
        return textReply(200, url.search);
      },
      failureReply: () => textReply(500, "failed"),
      ...extra,
    },
    { logger: silentLogger },
  );
  servers.push(server);
  return { calls, port: server.address.port, url: `http://127.0.0.1:${server.address.port}` };
}

async function open(port: number, paused = false): Promise<RawSocket> {
  const socket = await openRawSocket(port, { paused });
  sockets.push(socket);
  return socket;
}

const get = (target: string): string => `GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Resolves when a new client has its reply. */
async function serveNewClient(url: string): Promise<void> {
  expect(await (await fetch(`${url}/small?new`)).text()).toBe("?new");
}

describe("a connection with pipelined requests", () => {
  it("gets its replies in order, however many requests it sends", async () => {
    const { port } = await start({});
    const { socket, text } = await open(port);
    const count = 5_000;
    socket.write(Array.from({ length: count }, (_, index) => get(`/?${index}.`)).join(""));
    await expect.poll(() => text().endsWith(`?${count - 1}.`), { timeout: 60_000 }).toBe(true);
    const replies = [...text().matchAll(/\?(\d+)\./g)].map(([, index]) => Number(index));
    expect(replies).toEqual(Array.from({ length: count }, (_, index) => index));
  });

  it("has one reply in memory when it reads nothing, and others are served", async () => {
    const { port, url, calls } = await start({});
    const { socket } = await open(port, true);
    socket.write(get("/big").repeat(4_000));
    await expect.poll(() => calls.big).toBeGreaterThan(0);
    await serveNewClient(url);
    await wait(200);
    expect(calls.big).toBe(1);
  });

  it("does not keep others waiting while its replies are slow to make", async () => {
    const { port, url, calls } = await start(
      {},
      {
        handle: ({ url: target }) => {
          const until = performance.now() + (target.pathname === "/slow" ? 20 : 0);
          while (performance.now() < until);
          calls.small += 1;
          return textReply(200, target.search);
        },
      },
    );
    const { socket } = await open(port);
    socket.write(get("/slow").repeat(500));
    await expect.poll(() => calls.small).toBeGreaterThan(0);
    await serveNewClient(url);
    expect(calls.small).toBeLessThan(250);
  });

  it("is cut when it does not read for the time of the limit", async () => {
    const { port, calls } = await start({ stalledMs: 300 });
    const stalled = await open(port, true);
    stalled.socket.write(get("/big"));
    await expect.poll(() => calls.big).toBe(1);
    await wait(600);
    let received = 0;
    stalled.socket.on("data", (chunk: Buffer) => (received += chunk.length));
    await stalled.closed;
    expect(received).toBeLessThan(BIG.length);
  });
});

describe("large bodies", () => {
  it("are bounded together until their replies, and small ones are still read", async () => {
    const reply = createDeferred<void>();
    const { port, url } = await start(
      { maxBodyBytes: MB, maxLargeBodiesBytes: 300_000 },
      {
        handle: async (request) => {
          const { length } = await request.readBody();
          if (length === 200_000) await reply.promise;
          return textReply(200, `${length}`);
        },
        failureReply: (error) =>
          error instanceof HttpRequestError ? textReply(error.facts.status, "") : textReply(500, ""),
      },
    );
    const post = async (bytes: number) => {
      const response = await fetch(url, { method: "POST", body: "x".repeat(bytes) });
      return [response.status, await response.text()];
    };
    const { socket, closed } = await open(port);
    socket.write(
      `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 250000\r\n\r\n${"x".repeat(240_000)}`,
    );
    await expect.poll(() => post(100_000)).toEqual([503, ""]);
    expect(await post(60_000)).toEqual([200, "60000"]);
    socket.destroy();
    await closed;
    await expect.poll(() => post(100_000)).toEqual([200, "100000"]);
    // What was parsed from a body takes memory until the reply.
    const waiting = post(200_000);
    await expect.poll(() => post(150_000)).toEqual([503, ""]);
    reply.resolve();
    expect(await waiting).toEqual([200, "200000"]);
    await expect.poll(() => post(150_000)).toEqual([200, "150000"]);
  });
});

describe("clients that do not read", () => {
  it("have bounded memory together, and a new client is served", async () => {
    const { port, url, calls } = await start({ maxUnsentBytes: 4 * BIG.length });
    for (let index = 0; index < 40; index++) {
      const { socket } = await open(port, true);
      socket.write(get("/big").repeat(15));
    }
    const started = performance.now();
    await expect.poll(() => calls.big).toBeGreaterThan(3);
    await serveNewClient(url);
    // Every half second the oldest unread replies make room for the next ones.
    const turns = Math.ceil((performance.now() - started) / 500);
    expect(calls.big).toBeLessThanOrEqual(4 * (turns + 1));
  });
});

describe("a server at its limit of connections", () => {
  const limits = { maxConnections: 20, headersTimeoutMs: 1_500, requestTimeoutMs: 1_500 };

  it.each([
    ["silent", ""],
    ["half a head", "GET / HTTP/1.1\r\nHost: loc"],
    ["idle after a request", get("/")],
  ])("serves a new client while others hold connections: %s", async (_name, bytes) => {
    // No timeout of the server ends within this test.
    const { port, url } = await start({
      ...limits,
      headersTimeoutMs: 600_000,
      requestTimeoutMs: 600_000,
    });
    for (let index = 0; index < 40; index++) (await open(port)).socket.write(bytes);
    await wait(50);
    await serveNewClient(url);
  });

  it("lets a request that is incomplete make room, the longest first, and no other", async () => {
    const waiting = createDeferred<void>();
    let heads = 0;
    const { port } = await start(
      { ...limits, headersTimeoutMs: 600_000, requestTimeoutMs: 600_000 },
      {
        handle: async (request) => {
          heads += 1;
          await request.readBody();
          if (request.url.pathname === "/slow") await waiting.promise;
          return textReply(200, request.url.search);
        },
      },
    );
    const slow = await open(port);
    slow.socket.write(get("/slow?1."));
    const order: number[] = [];
    for (let index = 0; index < 25; index++) {
      const half = await open(port);
      void half.closed.then(() => order.push(index));
      half.socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nh");
      await expect.poll(() => heads).toBe(2 * index + 2);
      const probe = await open(port);
      probe.socket.write(get("/?new.").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
      await expect.poll(probe.text).toContain("?new.");
      await probe.closed;
    }
    await expect.poll(() => order).toEqual([0, 1, 2, 3, 4, 5, 6]);
    waiting.resolve();
    await expect.poll(slow.text).toContain("?1.");
  });

  it("lets half a request make room before a client that has just connected", async () => {
    let heads = 0;
    const handle = async (request: HttpRequest): Promise<HttpReply> => {
      heads += 1;
      await request.readBody();
      return textReply(200, request.url.search);
    };
    const { port } = await start(
      { ...limits, headersTimeoutMs: 600_000, requestTimeoutMs: 600_000 },
      { handle },
    );
    const half = async (): Promise<void> => {
      const before = heads;
      (await open(port)).socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nh");
      await expect.poll(() => heads).toBe(before + 1);
    };
    for (let index = 0; index < 20; index++) await half();
    const fresh = await open(port);
    // As many as still have an older one to replace.
    for (let index = 0; index < 19; index++) await half();
    fresh.socket.write(get("/?fresh."));
    await expect.poll(fresh.text).toContain("?fresh.");
  });

  it.each([
    ["half a body", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf"],
    ["malformed", "NONSENSE\r\n\r\n"],
    ["malformed after a request", `${get("/")}NONSENSE\r\n\r\n`],
    [
      "an upgrade that nobody takes",
      "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
    ],
    ["a tunnel", "CONNECT a:1 HTTP/1.1\r\nHost: localhost\r\n\r\n"],
  ])("serves a new client within the timeouts: %s", async (_name, bytes) => {
    const { port, url } = await start(limits, {
      handle: async (request) => {
        await request.readBody();
        return textReply(200, request.url.search);
      },
      upgrade: (_request, socket) => socket.end("HTTP/1.1 404 Not Found\r\n\r\n"),
    });
    for (let index = 0; index < 40; index++) {
      const { socket } = await open(port);
      socket.write(bytes);
    }
    await expect.poll(() => serveNewClient(url).then(() => "served", errorText)).toBe("served");
  });
});
