import { Registry } from "prom-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../../src/platform/base/clock.ts";
import { silentLogger } from "../../../../src/platform/base/logger.ts";
import { parseConfig } from "../../../../src/platform/config/config.ts";
import { watchdogConfigSchema } from "../../../../src/watchdog/config/config.ts";
import { createWatchdog } from "../../../../src/watchdog/watchdog.ts";
import { createGrpcTestClient } from "../../../support/grpc-client.ts";
import { openRawSocket } from "../../../support/raw-socket.ts";
import { type RelayedLocalnet, startRelayedLocalnet } from "../../../support/relayed-localnet.ts";

const HEAD = "Host: localhost\r\n";
const WEBSOCKET = `${HEAD}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n`;
const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
/** A masked text frame whose payload, 126 bytes by its length, is cut off. */
const HALF_FRAME = Buffer.from([0x81, 0xfe, 0, 126, 1, 2, 3, 4, 5]);

/** Bytes that a client sends before it resets the connection, by the name of the stage. */
const HTTP_STAGES: Readonly<Record<string, readonly (string | Buffer)[]>> = {
  connected: [],
  "half a request line": ["GET /sta"],
  "half a head": [`GET / HTTP/1.1\r\n${HEAD}X-More: `],
  "half a body": [`POST / HTTP/1.1\r\n${HEAD}Content-Length: 100\r\n\r\n{"jsonrpc"`],
  "half a chunk": [`POST / HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n40\r\nabc`],
  "a request": [`GET / HTTP/1.1\r\n${HEAD}\r\n`],
  "many requests": [`GET / HTTP/1.1\r\n${HEAD}\r\n`.repeat(300)],
  "a foreign host": ["GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"],
  nonsense: ["\u0000\u0001\r\n\r\n"],
  "a tunnel": [`CONNECT a:1 HTTP/1.1\r\n${HEAD}\r\n`],
  "an upgrade elsewhere": [`GET / HTTP/1.1\r\n${WEBSOCKET}\r\n`],
  "an upgrade of a foreign page": [
    `GET /websocket HTTP/1.1\r\n${WEBSOCKET}Origin: https://evil.example\r\n\r\n`,
  ],
  "a bad upgrade": [`GET /websocket HTTP/1.1\r\n${HEAD}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`],
  "an upgrade": [`GET /websocket HTTP/1.1\r\n${WEBSOCKET}\r\n`],
  "an upgrade after a request": [`GET / HTTP/1.1\r\n${HEAD}\r\nGET /websocket HTTP/1.1\r\n${WEBSOCKET}\r\n`],
  "half a frame": [`GET /websocket HTTP/1.1\r\n${WEBSOCKET}\r\n`, HALF_FRAME],
  "a bad frame": [`GET /websocket HTTP/1.1\r\n${WEBSOCKET}\r\n`, Buffer.from([0xff, 0xff, 0xff])],
  "a commit that waits": [
    `POST / HTTP/1.1\r\n${HEAD}Content-Length: 71\r\n\r\n{"jsonrpc":"2.0","id":1,"method":"broadcast_tx_commit","params":["AAA"]}`,
  ],
};
const GRPC_STAGES: Readonly<Record<string, readonly (string | Buffer)[]>> = {
  connected: [],
  "half a preface": [PREFACE.subarray(0, 10)],
  "a preface": [PREFACE],
  settings: [PREFACE, SETTINGS],
  "half a frame": [PREFACE, SETTINGS, Buffer.from([0, 0, 50, 1, 4, 0, 0, 0, 1, 0x83])],
  "a bad frame": [PREFACE, SETTINGS, Buffer.alloc(100, 0xff)],
  "HTTP/1": [`GET / HTTP/1.1\r\n${HEAD}\r\n`],
};

let localnet: RelayedLocalnet;
let ports: Readonly<Record<string, number>>;
const stop = new AbortController();
let watchdogDone: Promise<void>;
const uncaught: unknown[] = [];
const record = (error: unknown): void => void uncaught.push(error);

beforeAll(async () => {
  process.on("uncaughtExceptionMonitor", record);
  localnet = await startRelayedLocalnet();
  const config = parseConfig({ file: "test", text: 'http: { listen: "127.0.0.1:0" }' }, watchdogConfigSchema);
  const deps = { clock: systemClock, logger: silentLogger, random: Math.random, registry: new Registry() };
  const watchdog = createWatchdog(config, deps);
  watchdogDone = watchdog.run(stop.signal);
  const { chains, controlPort } = localnet.running;
  ports = {
    rpc: chains.local?.ports.get("rpc") ?? 0,
    rest: chains.local?.ports.get("rest") ?? 0,
    metrics: chains.local?.ports.get("metrics") ?? 0,
    control: controlPort ?? 0,
    relayer: (await localnet.relayer.http.ready).port,
    watchdog: (await watchdog.ready).port,
    grpc: chains.local?.ports.get("grpc") ?? 0,
  };
});
afterAll(async () => {
  process.off("uncaughtExceptionMonitor", record);
  stop.abort(new Error("the test is over"));
  await Promise.all([watchdogDone, localnet.stop()]);
});

/** Resets connections to a port after the bytes of a stage: at once, and when the server has had time to reply. */
async function reset(port: number, parts: readonly (string | Buffer)[]): Promise<void> {
  await Promise.all(
    [0, 1, 20].map(async (delayMs) => {
      const { socket } = await openRawSocket(port, { paused: delayMs === 1 });
      for (const part of parts) {
        socket.write(part);
        if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
      }
      socket.resetAndDestroy();
    }),
  );
}

const HTTP_SERVERS = ["rpc", "rest", "metrics", "control", "relayer", "watchdog"];

describe.each(HTTP_SERVERS)("resets of connections to %s", (server) => {
  it.each(Object.keys(HTTP_STAGES))("after: %s", async (stage) => {
    const port = ports[server] ?? 0;
    await reset(port, HTTP_STAGES[stage] ?? []);
    expect((await fetch(`http://localhost:${port}/`)).status).toBeLessThan(600);
    expect(uncaught).toEqual([]);
  });
});

describe("resets of connections to grpc", () => {
  it.each(Object.keys(GRPC_STAGES))("after: %s", async (stage) => {
    const port = ports["grpc"] ?? 0;
    await reset(port, GRPC_STAGES[stage] ?? []);
    const client = createGrpcTestClient(`127.0.0.1:${port}`);
    await client.call("/cosmos.base.tendermint.v1beta1.Service/GetSyncing", new Uint8Array());
    const { answered } = client.openReflection();
    await answered;
    client.close();
    expect(uncaught).toEqual([]);
  });
});
