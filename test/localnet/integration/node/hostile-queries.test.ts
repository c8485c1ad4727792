import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Application } from "../../../../src/localnet/chain/runtime/abci.ts";
import { ErrPanic } from "../../../../src/localnet/chain/runtime/errors.ts";
import { errorResponse } from "../../../../src/localnet/chain/runtime/query-router.ts";
import type { StateStorage } from "../../../../src/localnet/chain/store/multi-store.ts";
import { errorText } from "../../../../src/platform/base/errors.ts";
import { createKvApplication } from "../../../support/kv-application.ts";
import { startTestNode, type TestNode } from "../../../support/test-node.ts";

const REQUESTS = 30;
const TIME_MS = 60;

/** An application whose query `/forever` ends only when it is interrupted. */
function endlessApplication(storage: StateStorage): Application {
  const app = createKvApplication(storage);
  return {
    ...app,
    query: (request, interrupt) => {
      if (request.path !== "/forever") return app.query(request);
      if (interrupt === undefined) return app.query(request);
      try {
        for (;;) interrupt();
      } catch (thrown) {
        return errorResponse(ErrPanic(errorText(thrown)));
      }
    },
  };
}

describe("a node under many queries that do not end", () => {
  let node: TestNode;
  beforeAll(async () => {
    node = await startTestNode({ queryTimeMs: TIME_MS }, { createApp: endlessApplication });
    node.control.produce(1);
  });
  afterAll(() => node.stop());

  it("makes blocks and reports its health meanwhile, and each query ends with an error", async () => {
    let pending = REQUESTS;
    const ask = async (): Promise<string> => {
      const response = await fetch(`${node.rpcUrl}/abci_query?path="/forever"`);
      pending -= 1;
      return response.text();
    };
    const { latestHeight } = node.view.status();
    node.control.resume();
    const replies = Promise.all(Array.from({ length: REQUESTS }, ask));
    expect((await fetch(`${node.rpcUrl}/health`)).status).toBe(200);
    // The health was reported between the queries, not after them.
    expect(pending).toBeGreaterThan(0);
    const texts = await replies;
    expect(node.view.status().latestHeight - latestHeight).toBeGreaterThan(0n);
    expect(
      texts.filter((text) => !/after 60 ms of processor time|busy with other requests/.test(text)),
    ).toEqual([]);
    expect(texts.some((text) => text.includes("processor time"))).toBe(true);
  });
});
