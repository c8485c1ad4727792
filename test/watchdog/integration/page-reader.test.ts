import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTcpServer, type Socket } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { toNodeReading } from "../../../src/watchdog/sources/node-reading.ts";
import { toSourceFailure } from "../../../src/watchdog/sources/observation.ts";
import {
  createHttpPageReader,
  type HttpPageReader,
  readMetricsPage,
} from "../../../src/watchdog/sources/page-reader.ts";

const PAGE = [
  'app_oracle_responses{chain_id="c",status="Success"} 7',
  'cometbft_consensus_latest_block_height{chain_id="c"} 9',
  "",
].join("\n");

const closing: (() => unknown)[] = [];
const openReader = (): HttpPageReader => {
  const reader = createHttpPageReader();
  closing.push(reader.close);
  return reader;
};
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function serve(handle: RequestListener): Promise<string> {
  const server = createServer(handle).listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return urlOf(server.address());
}

async function serveTcp(onSocket: (socket: Socket) => void): Promise<string> {
  const server = createTcpServer(onSocket).listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => server.close());
  return urlOf(server.address());
}

function urlOf(address: ReturnType<ReturnType<typeof createTcpServer>["address"]>): string {
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return `http://127.0.0.1:${address.port}`;
}

/** The successful calls on the page, or why it cannot be read. */
async function read(url: string, { read: readPage } = openReader(), maxBytes = 10_000): Promise<string> {
  try {
    const options = { url, maxBytes, needs: () => true };
    const { samples } = await readMetricsPage(options, readPage, AbortSignal.timeout(5000));
    return `${toNodeReading(samples).success}`;
  } catch (error) {
    return toSourceFailure(error).text;
  }
}

describe("a compressed page", () => {
  it.each([
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
    ["identity", (text: string) => text],
  ])("is read: %s", async (encoding, pack) => {
    let asked: unknown;
    const url = await serve((request, response) => {
      asked = request.headers["accept-encoding"];
      response.writeHead(200, { "content-encoding": encoding }).end(pack(PAGE));
    });
    expect([await read(url), asked]).toEqual(["7", "gzip"]);
  });

  it("is named when nobody can read it", async () => {
    const url = await serve(({ url: path }, response) => {
      if (path === "/zstd") return response.writeHead(200, { "content-encoding": "zstd" }).end(PAGE);
      const whole = gzipSync(PAGE);
      const body = path === "/cut" ? whole.subarray(0, -9) : Buffer.from(PAGE);
      return response.writeHead(200, { "content-encoding": "gzip" }).end(body);
    });
    expect(await read(`${url}/zstd`)).toBe(
      "cannot decompress the response (zstd): the watchdog asks for gzip",
    );
    expect(await read(`${url}/cut`)).toMatch(
      /cannot decompress the response \(gzip\): unexpected end of file/,
    );
    expect(await read(`${url}/plain`)).toMatch(/cannot decompress the response \(gzip\): incorrect header/);
  });

  it("is not larger than a page may be", async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("# x\n".repeat(1_000_000)));
    });
    expect(await read(url)).toBe("the page exceeds 10000 bytes");
  });
});

describe("a page that is cut off", () => {
  it.each([
    ["shorter than announced", `HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n${PAGE}`],
    ["without its last chunk", `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\na 1\n\n\r\n`],
    ["at the end of the connection", `HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${PAGE.slice(0, -4)}`],
  ])("is a failed scrape: %s", async (_case, response) => {
    const url = await serveTcp((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.end(response));
    });
    expect(await read(url)).toMatch(/other side closed|terminated|the page is incomplete/);
  });
});

describe("a connection that the server closed", () => {
  it("is no failed scrape: the request is sent once more, on a new one", async () => {
    let requests = 0;
    // Each connection serves one request, and ends at the next one without a response.
    const url = await serveTcp((socket) => {
      let own = 0;
      socket.on("error", () => {});
      socket.on("data", () => {
        requests += 1;
        own += 1;
        if (own > 1) socket.destroy();
        else socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${PAGE.length}\r\n\r\n${PAGE}`);
      });
    });
    const reader = openReader();
    for (let poll = 0; poll < 6; poll++) expect(await read(url, reader)).toBe("7");
    expect(requests).toBe(9);
  });

  it("is one when the new connection ends too", async () => {
    let requests = 0;
    const url = await serveTcp((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => {
        requests += 1;
        socket.destroy();
      });
    });
    expect(await read(url)).toMatch(/UND_ERR_SOCKET|ECONNRESET|other side closed/);
    expect(requests).toBe(2);
  });
});

describe("a redirect", () => {
  it("is followed on the same host, and named when the target fails", async () => {
    const url = await serve(({ url: path }, response) => {
      if (path === "/") response.writeHead(301, { location: "/metrics?x=1" }).end();
      else if (path === "/lost") response.writeHead(308, { location: "/none" }).end();
      else if (path === "/none") response.writeHead(404).end();
      else if (path === "/round") response.writeHead(302, { location: "/round" }).end();
      else response.end(PAGE);
    });
    expect(await read(url)).toBe("7");
    expect(await read(`${url}/lost`)).toBe(`the source answered HTTP 404 after a redirect to ${url}/none`);
    expect(await read(`${url}/round`)).toBe(
      `the source redirects to ${url}/round (HTTP 302); configure that URL if it is correct`,
    );
  });

  it("to another host, or without one, is named and not followed", async () => {
    let isFollowed = false;
    const other = await serve((_request, response) => {
      isFollowed = true;
      response.end(PAGE);
    });
    const to = other.replace("127.0.0.1", "user:secret@localhost");
    const url = await serve(({ url: path }, response) => {
      response.writeHead(302, path === "/none" ? {} : { location: `${to}/x?token=1` }).end();
    });
    expect(await read(url)).toBe(
      `the source redirects to ${other.replace("127.0.0.1", "localhost")}/x (HTTP 302); configure that URL if it is correct`,
    );
    expect(await read(`${url}/none`)).toBe(
      "the source redirects to nowhere (HTTP 302); configure that URL if it is correct",
    );
    expect(isFollowed).toBe(false);
  });
});
