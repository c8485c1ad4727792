import { connect as connectHttp2 } from "node:http2";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { silentLogger } from "../../../../../src/platform/base/logger.ts";
import { createGrpcEndpoint, GRPC_LIMITS } from "../../../../../src/localnet/node/grpc/grpc-endpoint.ts";
import type { CallRouter } from "../../../../../src/localnet/node/grpc/call-router.ts";
import type { NodeServer } from "../../../../../src/localnet/node/base/node-server.ts";
import { createGrpcTestClient } from "../../../../support/grpc-client.ts";
import { openRawSocket, type RawSocket } from "../../../../support/raw-socket.ts";
import { type RecordedNode, startRecordedNode } from "../../../../support/recorded-node.ts";

const SYNCING = "/cosmos.base.tendermint.v1beta1.Service/GetSyncing";
const PARAMS = "/cosmos.bank.v1beta1.Query/Params";
const NOTHING = new Uint8Array(0);

let node: RecordedNode;
beforeAll(async () => {
  node = await startRecordedNode();
});
afterAll(() => node.stop());

async function start(
  limits: Partial<typeof GRPC_LIMITS>,
  router: CallRouter = node.router,
): Promise<{ readonly server: NodeServer; readonly port: number }> {
  const options = {
    host: "127.0.0.1",
    port: 0,
    portOption: "--grpc-port",
    chainName: "neutron",
  };
  const server = createGrpcEndpoint(options, { logger: silentLogger }, { ...GRPC_LIMITS, ...limits })(router);
  return { server, port: await server.listen() };
}

async function canCall(port: number): Promise<void> {
  const client = createGrpcTestClient(`127.0.0.1:${port}`);
  try {
    await client.call(SYNCING, NOTHING);
  } finally {
    client.close();
  }
}

describe("idle connections", () => {
  it("do not shut new clients out", async () => {
    const { server, port } = await start({ maxConnections: 20 });
    const client = createGrpcTestClient(`127.0.0.1:${port}`);
    await client.call(SYNCING, NOTHING);
    const sockets: RawSocket[] = [];
    for (let index = 0; index < 60; index++) {
      sockets.push(await openRawSocket(port));
      // A client with traffic stays connected.
      if (index % 10 === 0) await client.call(SYNCING, NOTHING);
    }
    await canCall(port);
    await client.call(SYNCING, NOTHING);
    client.close();
    for (const { socket } of sockets) socket.destroy();
    await server.close();
  });

  it("without HTTP/2 are cut", async () => {
    const { server, port } = await start({ prefaceTimeoutMs: 100 });
    const silent = await openRawSocket(port);
    const half = await openRawSocket(port);
    half.socket.write("PRI * HTTP/2.0\r\n");
    const http1 = await openRawSocket(port);
    http1.socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await Promise.all([silent.closed, half.closed, http1.closed]);
    await canCall(port);
    for (const { socket } of [silent, half, http1]) socket.destroy();
    await server.close();
  });
});

describe("clients that do not read", () => {
  it("have bounded memory together, and a new client is served", async () => {
    const value = Buffer.alloc(5_000_000);
    let calls = 0;
    const router: CallRouter = {
      ...node.router,
      call: (call) => {
        const reply = node.router.call(call);
        if (call.path !== PARAMS) return reply;
        calls += 1;
        return { ...reply, value };
      },
    };
    const { server, port } = await start({ maxUnsentBytes: 30_000_000 }, router);
    const sessions = Array.from({ length: 4 }, () => {
      const session = connectHttp2(`http://127.0.0.1:${port}`);
      session.on("error", () => {});
      for (let index = 0; index < 50; index++) {
        const stream = session.request({
          ":method": "POST",
          ":path": PARAMS,
          "content-type": "application/grpc",
          te: "trailers",
        });
        stream.on("error", () => {});
        // Never read, so the flow-control window of the stream stays closed.
        stream.end(Buffer.alloc(5));
      }
      return session;
    });
    const started = performance.now();
    await expect.poll(() => calls).toBeGreaterThan(3);
    await canCall(port);
    // Every half second the oldest unread replies make room for the next ones.
    const turns = Math.ceil((performance.now() - started) / 500);
    expect(calls).toBeLessThanOrEqual(6 * (turns + 1));
    for (const session of sessions) session.destroy();
    await server.close();
  });
});
