import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toBase64, toHex, utf8, sha256 } from "../../../../src/platform/base/bytes.ts";
import { shapeDifferences, shapeOf } from "../../../support/json-shape.ts";
import { startTestNode, type TestNode } from "../../../support/test-node.ts";

interface RecordedCall {
  readonly note: string;
  readonly http: "POST" | "GET";
  readonly request?: unknown;
  readonly request_raw?: string;
  readonly path?: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly response?: unknown;
  readonly response_start?: string;
}

const calls: readonly RecordedCall[] = JSON.parse(
  readFileSync(new URL("../../../fixtures/rpc.json", import.meta.url), "utf8"),
);

/** Calls to the application. This node runs another application, so the test compares the shape and not the text. */
const ANSWERED_BY_APP: ReadonlySet<number> = new Set([
  28, 29, 30, 31, 33, 49, 50, 51, 52, 53, 56, 57, 73, 74, 84,
]);

describe("recorded RPC calls", () => {
  let node: TestNode;
  let substitutions: readonly (readonly [recorded: string, ours: string])[];

  beforeAll(async () => {
    node = await startTestNode();
    for (const tx of ["a=1", "b=2", "ev:message.module=interchainqueries", "ev:transfer.amount=100untrn"]) {
      node.view.broadcast(utf8(tx));
    }
    node.control.produce(6);
    node.view.broadcast(utf8("first=1"));
    node.view.broadcast(utf8("second=2"));
    node.view.broadcast(utf8("ev:transfer.recipient=somebody"));
    node.view.broadcast(utf8("ev:message.action=MsgSubmitQueryResult"));
    node.control.produce(4);
    substitutions = makeSubstitutions(node);
  });
  afterAll(() => node.stop());

  it("are complete", () => expect(calls).toHaveLength(86));

  it.each(calls.map((call, index) => ({ index, call, name: `${index} ${call.note} ${describeCall(call)}` })))(
    "$name",
    async ({ index, call }) => {
      // A failed call fails because of its content, so it is sent as recorded, except for the height of the chain.
      const used = isFailed(call) ? substitutions.slice(-1) : substitutions;
      const answer = await send(node.rpcUrl, call, used);
      expect(answer.status).toBe(call.status);
      expect(answer.headers.get("content-type")).toBe(call.headers["Content-Type"] ?? null);
      expect(answer.headers.get("x-server-time")).toMatch(/^\d+$/);
      if (call.response_start !== undefined) {
        expect(await answer.text()).toContain(call.response_start.slice(0, 72));
        return;
      }
      compare(index, call, await answer.text(), used);
    },
  );
});

function compare(
  index: number,
  call: RecordedCall,
  text: string,
  substitutions: readonly (readonly [string, string])[],
): void {
  if (typeof call.response === "string") {
    expect(text).toBe(call.response);
    return;
  }
  const ours: unknown = JSON.parse(text);
  const recorded: unknown = JSON.parse(substitute(JSON.stringify(call.response), substitutions));
  const isFailure = text.includes('"error"');
  if (isFailure && !ANSWERED_BY_APP.has(index)) expect(ours).toEqual(recorded);
  const differences = shapeDifferences(shapeOf(recorded), shapeOf(ours));
  expect(differences.filter((one) => !isAppText(one) || !ANSWERED_BY_APP.has(index))).toEqual([]);
}

/** Whether the difference is in a field whose content comes from the application. */
function isAppText(difference: string): boolean {
  return /\.(log|codespace|value|key|proofOps|data)\b/.test(difference);
}

function isFailed(call: RecordedCall): boolean {
  return JSON.stringify(call.response ?? "").includes('"error":');
}

function makeSubstitutions(node: TestNode): readonly (readonly [string, string])[] {
  const block = node.view.block(5n);
  if (block === undefined) throw new Error("no block 5");
  const tx = sha256(utf8("second=2"));
  const latest = node.view.status().latestHeight.toString();
  return [
    ["kziZSnLCC7z3DnDbUS+Jxq6DvixOUCVpJ3MV2Wxp8t0=", toBase64(block.blockId.hash)],
    ["9338994A72C20BBCF70E70DB512F89C6AE83BE2C4E502569277315D96C69F2DD", upper(block.blockId.hash)],
    ["xCci5kzlv/tftZv6PmaxbHnflro1zjL3WXhevUoDDAI=", toBase64(tx)],
    ["C42722E64CE5BFFB5FB59BFA3E66B16C79DF96BA35CE32F759785EBD4A030C02", upper(tx)],
    ["height>100 AND tx.height<=400", "height>0 AND tx.height<=6"],
    ["tx.height<90", "tx.height<9"],
    ["height=1553", "height=7"],
    ['"1553"', '"7"'],
    ["height=500", "height=5"],
    ['\\"500\\"', '\\"5\\"'],
    ['"500"', '"5"'],
    ['\\"575\\"', '\\"6\\"'],
    ['"575"', '"6"'],
    ["blockchain height 1556", `blockchain height ${latest}`],
  ];
}

function upper(bytes: Uint8Array): string {
  return toHex(bytes).toUpperCase();
}

function substitute(text: string, substitutions: readonly (readonly [string, string])[]): string {
  return substitutions.reduce((done, [recorded, ours]) => done.replaceAll(recorded, ours), text);
}

function send(
  url: string,
  call: RecordedCall,
  substitutions: readonly (readonly [string, string])[],
): Promise<Response> {
  if (call.http === "GET") return fetch(`${url}${encodeURI(substitute(call.path ?? "/", substitutions))}`);
  const body = isReplay(call)
    ? JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "broadcast_tx_sync",
        params: { tx: toBase64(utf8("a=1")) },
      })
    : substitute(call.request_raw ?? JSON.stringify(call.request), substitutions);
  return fetch(url, { method: "POST", body });
}

/** Whether the call repeats a transaction. The test repeats one of its own chain instead. */
function isReplay(call: RecordedCall): boolean {
  return call.note === "error: replayed tx";
}

function describeCall(call: RecordedCall): string {
  return (call.path ?? call.request_raw ?? JSON.stringify(call.request)).slice(0, 90);
}
