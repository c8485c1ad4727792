import { createServer } from "node:net";
import { once } from "node:events";
import { request } from "undici";
import { describe, expect, it } from "vitest";
import { startDelayProxy } from "../../bench/system/delay-proxy.ts";
import { startTestNode } from "../test-node.ts";

describe("startDelayProxy", () => {
  it("passes a node's answers on unchanged and in order", async () => {
    const node = await startTestNode();
    const proxy = await startDelayProxy(Number(new URL(node.rpcUrl).port), 5);
    try {
      node.control.produce(2);
      const read = async (base: string) => (await request(`${base}/block?height=2`)).body.text();
      expect(await read(`http://127.0.0.1:${proxy.port}`)).toBe(await read(node.rpcUrl));
    } finally {
      await proxy.close();
      await node.stop();
    }
  });

  it("ends a connection whose far end is not there", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    server.close();
    await once(server, "close");
    const proxy = await startDelayProxy(port, 1);
    try {
      await expect(request(`http://127.0.0.1:${proxy.port}/`)).rejects.toThrow();
    } finally {
      await proxy.close();
    }
  });
});
