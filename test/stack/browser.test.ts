import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/platform/base/clock.ts";
import { silentLogger } from "../../src/platform/base/logger.ts";
import { createRestServer } from "../../src/localnet/node/rest/rest-server.ts";
import { programPath } from "../support/stack/programs.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";

const access = { origins: ["localhost"] };
let node: TestNode;
let pages: Server;
let pagePort: number;
let profile: string;
/** Receives the report of the page. */
let report: (results: unknown) => void = () => {};

beforeAll(async () => {
  const address = { host: "127.0.0.1", port: 0, portOption: "--port", access };
  const rest = createRestServer(
    { ...address, chainName: "kv" },
    { clock: systemClock, logger: silentLogger },
  );
  node = await startTestNode({ rpc: address }, { servers: [rest] });
  node.control.produce(3);
  pages = createServer((request, response) => {
    if (request.url === "/done") request.on("data", (chunk: Buffer) => report(JSON.parse(chunk.toString())));
    response.setHeader("content-type", "text/html");
    response.end(page(node.rpcUrl, `http://localhost:${node.ports.get("rest")}`));
  });
  await new Promise<void>((resolve) => pages.listen(0, "127.0.0.1", resolve));
  const bound = pages.address();
  pagePort = typeof bound === "object" && bound !== null ? bound.port : 0;
  profile = mkdtempSync(join(tmpdir(), "relaywatch-browser-"));
});
afterAll(async () => {
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  await new Promise((resolve) => pages.close(resolve));
  await node.stop();
});

/** A page that calls the node as a dApp does, and reports what happened to its own server. */
function page(rpc: string, rest: string): string {
  const call = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "status", params: {} });
  return `<!doctype html><body><script>
    const results = {};
    const attempt = async (name, work) => { try { results[name] = await work(); } catch (error) { results[name] = "refused"; } };
    const socket = () => new Promise((resolve, reject) => {
      const ws = new WebSocket("${rpc.replace("http", "ws")}/websocket");
      ws.onopen = () => ws.send('${call}');
      ws.onmessage = ({ data }) => resolve(JSON.parse(data).result.node_info.network);
      ws.onerror = reject;
    });
    const work = Promise.all([
      attempt("post", async () => (await (await fetch("${rpc}", {
        method: "POST", body: '${call}', headers: { "content-type": "application/json" } })).json()).result.node_info.network),
      attempt("get", async () => (await (await fetch("${rpc}/status")).json()).result.node_info.network),
      attempt("rest", async () => (await fetch("${rest}/cosmos/base/tendermint/v1beta1/blocks/latest",
        { headers: { "x-cosmos-block-height": "2" } })).headers.get("grpc-metadata-x-cosmos-block-height")),
      attempt("websocket", socket),
    ]);
    work.then(() => fetch("/done", { method: "POST", body: JSON.stringify(results) }));
  </script>`;
}

/** Names under `.example` resolve to this machine. */
const OPTIONS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--host-resolver-rules=MAP *.example 127.0.0.1",
];

/** Loads a page in Chromium and returns its report. */
async function reportOf(url: string): Promise<unknown> {
  const reported = new Promise((resolve) => {
    report = resolve;
  });
  const browser = spawn(
    programPath("chromium"),
    [...OPTIONS, `--user-data-dir=${profile}`, "--remote-debugging-port=0", url],
    {
      stdio: "ignore",
      detached: true,
    },
  );
  const ended = new Promise((resolve) => browser.once("exit", resolve));
  try {
    return await Promise.race([reported, ended]);
  } finally {
    // The whole group: the browser has processes of its own.
    if (browser.pid !== undefined && browser.exitCode === null) process.kill(-browser.pid, "SIGKILL");
    await ended;
  }
}

/** Loads a document in Chromium and returns it. */
async function visit(url: string): Promise<string> {
  const options = [...OPTIONS, `--user-data-dir=${profile}`, "--dump-dom", url];
  return (await promisify(execFile)(programPath("chromium"), options, { timeout: 25_000 })).stdout;
}

describe("pages of the web in a browser", () => {
  it("of localhost use RPC, REST and WebSocket", async () => {
    const results = await reportOf(`http://localhost:${pagePort}/`);
    expect(results).toEqual({ post: "kv-1", get: "kv-1", rest: "2", websocket: "kv-1" });
  });

  it("of the web are refused", async () => {
    const results = await reportOf(`http://evil.example:${pagePort}/`);
    expect(results).toEqual({ post: "refused", get: "refused", rest: "refused", websocket: "refused" });
  });

  it("cannot read the node under a name of their own (DNS rebinding)", async () => {
    const body = await visit(`http://evil.example:${node.ports.get("rpc")}/status`);
    expect(body).toContain("this server does not accept the host name");
    expect(body).not.toContain("kv-1");
  });
});
