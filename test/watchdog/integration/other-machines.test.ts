import { createServer, type IncomingMessage } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createServer as createTlsSocketServer } from "node:tls";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { Registry } from "prom-client";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/platform/base/clock.ts";
import { stringifyJson } from "../../../src/platform/base/json.ts";
import type { Logger } from "../../../src/platform/base/logger.ts";
import { parseConfig } from "../../../src/platform/config/config.ts";
import type { NetworkOptions } from "../../../src/platform/http/remote.ts";
import { watchdogConfigSchema } from "../../../src/watchdog/config/config.ts";
import { createPostJson } from "../../../src/watchdog/notify/channels/transport.ts";
import { createSendMail } from "../../../src/watchdog/notify/channels/mail.ts";
import { createSampleReader } from "../../../src/watchdog/prometheus-api/api-client.ts";
import { createHttpPageReader } from "../../../src/watchdog/sources/page-reader.ts";
import { createWatchdog } from "../../../src/watchdog/watchdog.ts";
import { startConnectProxy } from "../../support/client/connect-proxy.ts";
import { fixtureText } from "../../support/client/fixture.ts";

const stop: (() => unknown)[] = [];
afterEach(async () => {
  for (const one of stop.splice(0).toReversed()) await one();
});

const signal = new AbortController().signal;
const NODE_PAGE = readFileSync(
  new URL("../../fixtures/metrics/node-26660-after-restart-of-sidecar.prom", import.meta.url),
  "utf8",
);
const BLOCK = stringifyJson({
  block: {
    header: { chain_id: "test-1", height: "1200", time: "2026-11-21T15:00:00Z" },
    last_commit: { signatures: [] },
  },
});
/** The certificate of an authority of our own, and a server that it vouches for. */
const ca = fixtureText("tls/ca.pem");
const identity = { cert: fixtureText("tls/server.pem"), key: fixtureText("tls/server.key") };

/** Starts a gateway. It answers with status, body and further headers, and keeps the requests. */
async function startGateway(
  reply: (request: IncomingMessage) => readonly [status: number, body: string, location?: string],
  tls?: typeof identity,
) {
  const requests: string[] = [];
  const handle: Parameters<typeof createServer>[1] = (request, response) => {
    requests.push(`${request.url} ${String(request.headers["x-api-key"] ?? "-")}`);
    const [status, body, location] = reply(request);
    response.writeHead(status, location === undefined ? {} : { location }).end(body);
  };
  const server = tls === undefined ? createServer({}, handle) : createTlsServer(tls, handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stop.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { requests, port: portOf(server.address()) };
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

describe("a watchdog whose sources are behind gateways", () => {
  const NODE_KEY = "node-key-0123456789";
  const CHAIN_KEY = "chain-key-0123456789";

  async function watch(chain: string, gateway: { readonly port: number }) {
    const base = `https://localhost:${gateway.port}`;
    const secrets = { RELAYWATCH_TEST_KEY: NODE_KEY, RELAYWATCH_TEST_HOOK: `${base}/hook-key` };
    Object.assign(process.env, secrets);
    stop.push(() => Object.keys(secrets).forEach((name) => delete process.env[name]));
    const text = stringifyJson({
      http: { listen: "127.0.0.1:0" },
      interval: "100ms",
      sources: {
        node: {
          url: `${base}/metrics`,
          headers: { "x-api-key": { env: "RELAYWATCH_TEST_KEY" } },
        },
        prices: null,
        oracle_metrics: null,
        sidecar_metrics: null,
      },
      tls: { ca_file: "test/fixtures/tls/ca.pem" },
      chain: { rest: `${base}${chain}`, pairs: [] },
      notify: {
        test_at_start: true,
        channels: [{ kind: "webhook", name: "hook", url: { env: "RELAYWATCH_TEST_HOOK" } }],
      },
    });
    const lines: string[] = [];
    const log = (message: string, fields?: unknown): void => {
      lines.push(`${message} ${stringifyJson(fields ?? null)}`);
    };
    const logger: Logger = { debug: log, info: log, warn: log, error: log, child: () => logger };
    const registry = new Registry();
    const watchdog = createWatchdog(parseConfig({ file: "w", text }, watchdogConfigSchema), {
      clock: systemClock,
      logger,
      registry,
      random: Math.random,
    });
    const end = new AbortController();
    const run = watchdog.run(end.signal);
    stop.push(() => {
      end.abort();
      return run;
    });
    const { port } = await watchdog.ready;
    await watchdog.polled;
    const pages = ["", "api/status", "metrics", "validators/default/sources"].map(async (path) =>
      (await fetch(`http://127.0.0.1:${port}/${path}`)).text(),
    );
    const shown = [...(await Promise.all(pages)), ...lines].join("\n");
    const sourceOf = (name: string) => watchdog.status().sources.find((one) => one.name === name);
    return { shown, sourceOf };
  }

  it("sends each its credentials, asks below the path of a base, and shows no key", async () => {
    const gateway = await startGateway(({ url = "", headers }) => {
      if (url === "/hook-key") return [200, "ok"];
      if (url === "/metrics") return headers["x-api-key"] === NODE_KEY ? [200, NODE_PAGE] : [401, ""];
      return url.startsWith(`/${CHAIN_KEY}/cosmos/base/tendermint/v1beta1/blocks/`) &&
        url.endsWith("?k=q-key")
        ? [200, BLOCK]
        : [501, "{}"];
    }, identity);
    const { shown, sourceOf } = await watch(`/${CHAIN_KEY}?k=q-key`, gateway);
    expect([sourceOf("node")?.error, sourceOf("chain-head")?.error]).toEqual(["", ""]);
    await expect.poll(() => gateway.requests).toContain("/hook-key -");
    expect(shown).not.toMatch(/node-key|chain-key|q-key|hook-key/);
    // A key goes to the endpoint that it is for.
    expect(gateway.requests.filter((one) => one.startsWith(`/${CHAIN_KEY}`) && !one.endsWith(" -"))).toEqual(
      [],
    );
    expect(new Set(gateway.requests.filter((one) => one.startsWith("/metrics")))).toEqual(
      new Set([`/metrics ${NODE_KEY}`]),
    );
  });

  it("names the host of a redirect, without the path that may be a key", async () => {
    const gateway = await startGateway(
      ({ url = "" }) =>
        url === "/metrics" ? [200, NODE_PAGE] : [302, "", `https://elsewhere.example${url}`],
      identity,
    );
    const { shown, sourceOf } = await watch(`/${CHAIN_KEY}`, gateway);
    expect(sourceOf("chain-head")?.error).toContain("redirects to https://elsewhere.example (HTTP 302)");
    expect(shown).not.toContain("chain-key");
  });
});

const NO_SERIES = stringifyJson({ status: "success", data: { resultType: "matrix", result: [] } });

const LIMITS = { deadlineMs: 5_000, maxResponseBytes: 1_000, maxSeries: 10, maxPoints: 10 };

/** Reads a page, posts a notification and queries Prometheus. Returns the statuses and the series, or the codes of the errors. */
async function reach(url: string, network: NetworkOptions): Promise<readonly unknown[]> {
  const reader = createHttpPageReader(network);
  stop.push(reader.close);
  const codeOf = (error: unknown): unknown =>
    /\b[A-Z_]{8,}\b/.exec(
      error instanceof Error && "code" in error ? String(error.code) : String(error),
    )?.[0];
  const post = createPostJson(network);
  return Promise.all([
    reader.read(url, signal).then(({ status }) => status, codeOf),
    post({ url, body: {}, signal }).then(({ status }) => status, codeOf),
    createSampleReader({ ...LIMITS, url, network })("up", { atMs: 1e12, rangeMs: 1000 }, signal).catch(
      codeOf,
    ),
  ]);
}

describe("sources and receivers of another network", () => {
  it("are reached through the environment's proxy, with its credentials, unless they are exempt", async () => {
    const proxy = await startConnectProxy();
    stop.push(proxy.close);
    const gateway = await startGateway(() => [200, NO_SERIES]);
    const url = `http://rpc.test:${gateway.port}/hook`;
    const environment = { HTTP_PROXY: `http://u:p@${proxy.url}` };
    expect(await reach(url, { environment })).toEqual([200, 200, []]);
    expect(proxy.seen.every((one) => one.endsWith(`rpc.test:${gateway.port}`))).toBe(true);
    expect(await reach(url, { environment: { ...environment, NO_PROXY: "rpc.test" } })).toEqual([
      "ENOTFOUND",
      "ENOTFOUND",
      "ENOTFOUND",
    ]);
    expect(
      await reach(`http://127.0.0.1:${gateway.port}/`, { environment: { HTTP_PROXY: "127.0.0.1:1" } }),
    ).toEqual([200, 200, []]);
  });

  it("are trusted by the authority of tls.ca_file", async () => {
    const { port } = await startGateway(() => [200, NO_SERIES], identity);
    const url = `https://localhost:${port}/`;
    const untrusted = "UNABLE_TO_VERIFY_LEAF_SIGNATURE";
    expect(await reach(url, { environment: {} })).toEqual([untrusted, untrusted, untrusted]);
    expect(await reach(url, { environment: {}, ca })).toEqual([200, 200, []]);
  });

  it("so is a mail server", async () => {
    const seen: string[] = [];
    const server = createTlsSocketServer(identity, (socket) => {
      socket.on("error", () => {});
      seen.push("connected");
      socket.end("554 no\r\n");
    });
    server.on("tlsClientError", () => seen.push("refused"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    stop.push(() => server.close());
    const mail = {
      from: "a@x.test",
      to: ["b@x.test"],
      subject: "s",
      text: "t",
      messageId: "1@x",
      threadId: "1@x",
    };
    const to = { host: "localhost", port: portOf(server.address()), security: "tls" } as const;
    const send = (network: NetworkOptions) =>
      createSendMail(network)(to, mail, { deadlineMs: 5_000, signal }).catch(String);
    await send({});
    await send({ ca });
    expect(seen).toEqual(["refused", "connected"]);
  });
});
