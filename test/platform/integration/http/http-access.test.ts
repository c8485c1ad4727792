import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { silentLogger } from "../../../../src/platform/base/logger.ts";
import type { HttpAccess } from "../../../../src/platform/http/http-access.ts";
import { textReply } from "../../../../src/platform/http/http-route.ts";
import type { OpenHttpServer } from "../../../../src/platform/http/http-server.ts";
import { openRouteServer } from "../../../../src/platform/http/route-server.ts";
import { startTestNode } from "../../../support/test-node.ts";
import { rawReply } from "../../../support/raw-socket.ts";

const servers: OpenHttpServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

async function start(access?: HttpAccess, host = "127.0.0.1"): Promise<number> {
  const server = await openRouteServer(
    {
      name: "access",
      listen: { host, port: 0 },
      portOption: "--test-port",
      routes: [
        { method: "GET", path: "*", handle: () => textReply(200, "secret") },
        { method: "POST", path: "*", handle: () => Promise.reject(new Error("broken")) },
      ],
      ...(access === undefined ? {} : { access }),
    },
    { logger: silentLogger },
  );
  servers.push(server);
  return server.address.port;
}

/** The status, the headers and the body of the reply to a request with these headers. */
async function ask(port: number, headers: Readonly<Record<string, string>>, method = "GET") {
  const lines = Object.entries({ ...headers, Connection: "close" }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const reply = await rawReply(port, `${method} / HTTP/1.1\r\n${lines.join("")}\r\n`);
  const [head = "", body = ""] = reply.split("\r\n\r\n");
  const [line = "", ...rest] = head.split("\r\n");
  return { status: Number(line.split(" ")[1]), headers: rest, body };
}

describe("the host name", () => {
  it.each([
    "localhost",
    "LOCALHOST:80",
    "localhost.",
    "127.0.0.1:9",
    "127.1.2.3",
    "[::1]:80",
    "app.localhost",
  ])("%s is accepted on loopback", async (host) =>
    expect((await ask(await start(), { Host: host })).status).toBe(200),
  );

  it.each([
    "evil.example",
    "evil.example:80",
    "localhost.evil.example",
    "192.168.1.4",
    "127.0.0.1.evil.example",
    "",
    "a b",
    "x@localhost",
    "1.127.0.0",
  ])("%j is refused on loopback", async (host) => {
    expect(await ask(await start(), { Host: host })).toMatchObject({
      status: 403,
      body: `this server does not accept the host name ${JSON.stringify(host)}\n`,
    });
  });

  it("may be configured, beside the loopback names", async () => {
    const port = await start({ hosts: ["node.example"] });
    expect((await ask(port, { Host: "Node.Example:443" })).status).toBe(200);
    expect((await ask(port, { Host: "localhost" })).status).toBe(200);
    expect((await ask(port, { Host: "evil.example" })).status).toBe(403);
    expect((await ask(await start({ hosts: ["*"] }), { Host: "evil.example" })).status).toBe(200);
  });

  it("is any name on another address, unless names are configured", async () => {
    expect((await ask(await start(undefined, "0.0.0.0"), { Host: "node.example" })).status).toBe(200);
    const port = await start({ hosts: ["node.example"] }, "0.0.0.0");
    expect((await ask(port, { Host: "node.example" })).status).toBe(200);
    expect((await ask(port, { Host: "evil.example" })).status).toBe(403);
  });

  it("may be absent in HTTP/1.0", async () => {
    expect(await rawReply(await start(), "GET / HTTP/1.0\r\n\r\n")).toContain("secret");
  });
});

describe("the origin", () => {
  it.each(["http://localhost:3000", "https://127.0.0.1", "http://[::1]:8080", "http://x.localhost"])(
    "%s may send requests, and cannot read replies without CORS",
    async (origin) => {
      const { status, headers } = await ask(await start(), { Host: "localhost", Origin: origin });
      expect(status).toBe(200);
      expect(headers.join()).not.toMatch(/access-control/i);
    },
  );

  it.each(["https://evil.example", "null", "http://localhost.evil.example", "x"])(
    "%s is refused",
    async (origin) => {
      expect(await ask(await start(), { Host: "localhost", Origin: origin })).toMatchObject({
        status: 403,
        body: `this server does not accept requests from pages of origin ${JSON.stringify(origin)}\n`,
      });
    },
  );

  it("of the server itself may send requests", async () => {
    const port = await start(undefined, "0.0.0.0");
    expect((await ask(port, { Host: "n.example:80", Origin: "http://n.example" })).status).toBe(403);
    expect((await ask(port, { Host: "n.example", Origin: "http://n.example" })).status).toBe(200);
    expect((await ask(port, { Host: "n.example", Origin: "http://evil.example" })).status).toBe(403);
  });
});

describe("CORS", () => {
  const PAGE = "https://app.example";

  it("lets configured pages read replies, and errors", async () => {
    const port = await start({ origins: [PAGE] });
    const { status, headers } = await ask(port, { Host: "localhost", Origin: PAGE });
    expect(status).toBe(200);
    expect(headers).toContain(`Access-Control-Allow-Origin: ${PAGE}`);
    expect(headers).toContain("Vary: Origin");
    const failed = await ask(port, { Host: "localhost", Origin: PAGE }, "POST");
    expect(failed.status).toBe(500);
    expect(failed.headers).toContain(`Access-Control-Allow-Origin: ${PAGE}`);
    expect((await ask(port, { Host: "localhost", Origin: "https://evil.example" })).status).toBe(403);
  });

  it("answers preflight requests", async () => {
    const port = await start({ origins: [PAGE] });
    const { status, headers, body } = await ask(
      port,
      {
        Host: "localhost",
        Origin: PAGE,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
        "Access-Control-Request-Private-Network": "true",
      },
      "OPTIONS",
    );
    expect([status, body]).toEqual([204, ""]);
    expect(headers).toEqual(
      expect.arrayContaining([
        `Access-Control-Allow-Origin: ${PAGE}`,
        "Access-Control-Allow-Methods: HEAD, GET, POST",
        expect.stringMatching(/^Access-Control-Allow-Headers: .*Content-Type/),
        "Access-Control-Allow-Private-Network: true",
      ]),
    );
    expect(headers.join()).not.toMatch(/content-length/i);
  });

  it.each([
    [["*"], "https://evil.example", "*"],
    [["*"], "null", "*"],
    [["localhost"], "http://localhost:3000", "http://localhost:3000"],
    [["localhost"], "http://127.0.0.1:1", "http://127.0.0.1:1"],
    [["https://*.app.example"], "https://a.app.example", "https://a.app.example"],
    [["http://localhost:*"], "http://localhost:5173", "http://localhost:5173"],
  ])("%j allows %s", async (origins, origin, allowed) => {
    const { headers } = await ask(await start({ origins }), { Host: "localhost", Origin: origin });
    expect(headers).toContain(`Access-Control-Allow-Origin: ${allowed}`);
  });

  it.each([
    [["localhost"], "https://localhost.evil.example"],
    [["https://*.app.example"], "https://app.example"],
    [["https://*.app.example"], "https://a.app.example.evil.example"],
    [["https://app.example"], "http://app.example"],
    [["https://app.example"], "https://app.example:8443"],
  ])("%j does not allow %s", async (origins, origin) => {
    expect((await ask(await start({ origins }), { Host: "localhost", Origin: origin })).status).toBe(403);
  });
});

describe("a WebSocket of the node", () => {
  it("is refused for foreign names and pages", async () => {
    const node = await startTestNode({
      rpc: {
        host: "127.0.0.1",
        port: 0,
        portOption: "--rpc-port",
        access: { origins: ["https://app.example"] },
      },
    });
    const url = `${node.rpcUrl.replace("http", "ws")}/websocket`;
    const open = (options: { origin?: string; headers?: Record<string, string> }): Promise<string> =>
      new Promise((resolve) => {
        const socket = new WebSocket(url, options);
        socket.on("error", (error) => resolve(error.message));
        socket.on("open", () => {
          socket.close();
          resolve("open");
        });
      });
    expect(await open({})).toBe("open");
    expect(await open({ origin: "https://app.example" })).toBe("open");
    expect(await open({ origin: "http://localhost:3000" })).toBe("open");
    expect(await open({ origin: "https://evil.example" })).toBe("Unexpected server response: 403");
    expect(await open({ headers: { Host: "evil.example" } })).toBe("Unexpected server response: 403");
    await node.stop();
  });
});
