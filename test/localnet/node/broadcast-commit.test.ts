import { getEventListeners } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { toBase64, utf8 } from "../../../src/platform/base/bytes.ts";
import { isRecord } from "../../../src/platform/base/json.ts";
import { handleRequest, turnOf } from "../../../src/localnet/node/rpc/json-rpc.ts";
import type { RpcContext } from "../../../src/localnet/node/rpc/method.ts";
import { startTestNode, testGenesis, type TestNode } from "../../support/test-node.ts";

/** Returns the used heap after a full garbage collection. */
function usedHeap(): number {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  if (typeof collect !== "function") throw new Error("there is no garbage collector to call");
  collect();
  return process.memoryUsage().heapUsed;
}

function contextOf({ view, router }: TestNode): RpcContext {
  return {
    view,
    router,
    genesis: testGenesis("kv-1", [10n]),
    roundState: () => expect.unreachable("no round state is needed"),
    commitTimeoutMs: 10_000,
    rpcAddress: () => "",
  };
}

describe("broadcast_tx_commit", () => {
  it("leaves nothing behind on the signal of the node", async () => {
    const node = await startTestNode();
    const context = contextOf(node);
    const stop = new AbortController();
    const commit = async (text: string): Promise<unknown> => {
      const params = { tx: toBase64(utf8(text)) };
      const request = { id: 1, method: "broadcast_tx_commit", params };
      const response: unknown = JSON.parse(await handleRequest(request, context, turnOf(stop.signal)));
      if (!isRecord(response)) return response;
      const { result, error } = response;
      return isRecord(result) && isRecord(result["check_tx"]) ? result["check_tx"]["code"] : error;
    };
    const rejected = async (calls: number): Promise<void> => {
      for (let call = 0; call < calls; call++) expect(await commit("no transaction")).toBe(1);
    };
    const included = async (from: number, to: number): Promise<void> => {
      const calls = Array.from({ length: to - from }, (_, index) => commit(`key${from + index}=1`));
      node.control.produce(1);
      expect(new Set(await Promise.all(calls))).toEqual(new Set([0]));
    };
    await rejected(2_000);
    await included(0, 20);
    const before = usedHeap();
    await rejected(10_000);
    await included(20, 40);
    // 3 kB a call were 30 MB here.
    expect(usedHeap() - before).toBeLessThan(3_000_000);
    expect(getEventListeners(stop.signal, "abort").length).toBeLessThanOrEqual(1);
    await node.stop();
  });
});
