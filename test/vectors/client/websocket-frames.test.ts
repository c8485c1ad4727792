import { describe, expect, it } from "vitest";
import {
  decodeEventFrame,
  type EventFrame,
  isTransaction,
} from "../../../src/cosmos/client/events/subscription.ts";
import { fromBase64 } from "../../../src/platform/base/bytes.ts";
import { fixtureText, recordedCalls } from "../../support/client/fixture.ts";

interface RecordedFrame {
  readonly dir: "in" | "out";
  readonly frame: { readonly id: number; readonly result?: { readonly data?: { readonly value: unknown } } };
}

const frames: readonly RecordedFrame[] = fixtureText("websocket.jsonl")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line));

const received = frames
  .filter(({ dir }) => dir === "in")
  .map(({ frame }) => decodeEventFrame(JSON.stringify(frame), "node"));

/** Kind of the frame, with the kind of its notice. */
function kindOf(frame: EventFrame): string {
  return frame.kind === "notice" ? `notice: ${frame.notice.kind}` : frame.kind;
}

describe("recorded WebSocket frames", () => {
  it("are all decoded", () => {
    expect([frames.length, received.length]).toEqual([24, 17]);
    const counts: Record<string, number> = {};
    for (const frame of received) counts[kindOf(frame)] = (counts[kindOf(frame)] ?? 0) + 1;
    expect(counts).toEqual({ response: 6, error: 1, "notice: block": 4, "notice: tx": 6 });
  });

  it("contain height and time of a block, to the nanosecond", () => {
    expect(received.find((frame) => kindOf(frame) === "notice: block")).toMatchObject({
      id: 3,
      notice: { height: 1609n, timeNs: 1_795_264_019_004_074_828n },
    });
  });

  it("contain the events of a transaction", () => {
    const [first] = received.flatMap((frame) =>
      frame.kind === "notice" && frame.notice.kind === "tx" ? [frame.notice] : [],
    );
    expect(first).toMatchObject({ height: 1611n, code: 0 });
    const own = first?.events.find(({ type }) => type === "neutron");
    expect(Object.fromEntries(own?.attributes.map(({ key, value }) => [key, value]) ?? [])).toEqual({
      module: "interchainqueries",
      action: "query_updated",
      query_id: "310",
      connection_id: "connection-0",
      owner: "neutron14hj2tavq8fpesdwxxcu44rty3hh90vhujrvcmstl4zr3txmfvw9s5c2epq",
      type: "kv",
      tx_filter: "",
      kv_key: "bank/02147dcb05e28cd4d68c9109a1925ad272002978a874756e74726e",
      msg_index: "0",
    });
  });

  it("contain the error response to a subscription", () => {
    expect(received.find(({ kind }) => kind === "error")).toEqual({
      kind: "error",
      id: 4,
      rpcCode: -32603,
      data: "failed to parse query: offset 26: EOF",
    });
  });

  it("are ignored when the transaction is the proposer's extended commit", () => {
    const commit = extendedCommit();
    const frame = {
      jsonrpc: "2.0",
      id: 1,
      result: {
        query: "tm.event='Tx'",
        data: {
          type: "tendermint/event/Tx",
          value: { TxResult: { height: "362", tx: commit, result: { code: 2, log: "tx parse error" } } },
        },
      },
    };
    expect(decodeEventFrame(JSON.stringify(frame), "node").kind).toBe("ignored");
  });
});

/** The one entry of the recorded NewBlock event. */
function extendedCommit(): string {
  const block = /"txs":\["(KLUv[^"]+)"/.exec(fixtureText("websocket.jsonl"));
  return block?.[1] ?? "";
}

describe("isTransaction", () => {
  it("accepts every recorded transaction", () => {
    const txs: readonly { readonly tx_base64: string }[] = JSON.parse(fixtureText("txs.json"));
    expect(txs).toHaveLength(41);
    for (const { tx_base64 } of txs) expect(isTransaction(fromBase64(tx_base64))).toBe(true);
  });

  it("rejects extended commits, compressed or plain, and damaged transactions", () => {
    expect(extendedCommit()).not.toBe("");
    const plain = "08011210" + "0a0e".padEnd(32, "0");
    const [tx] = JSON.parse(fixtureText("txs.json"));
    const whole = fromBase64(tx.tx_base64);
    const foreign = [fromBase64(extendedCommit()), Buffer.from(plain, "hex"), new Uint8Array(0)];
    const damaged = [whole.subarray(0, -1), whole.subarray(1), new Uint8Array([...whole, 0x28, 0x01])];
    for (const bytes of [...foreign, ...damaged]) expect(isTransaction(bytes)).toBe(false);
  });

  it("rejects only the first entry of recorded blocks", () => {
    const entries = recordedCalls().flatMap((call) => blockTxs(call.response));
    expect(entries.length).toBeGreaterThan(0);
    for (const txs of entries) expect(txs.map(isTransaction)).toEqual(txs.map((_tx, index) => index > 0));
  });
});

/** The `txs` of a `block` response. Empty for the first heights, which have no extended commit. */
function blockTxs(response: unknown): readonly (readonly Uint8Array[])[] {
  const body = JSON.stringify(response);
  const height = /"header":\{"version":\{"block":"11"\},"chain_id":"test-1","height":"(\d+)"/.exec(body);
  const txs = /"data":\{"txs":\[("KLUv[^\]]+)\]/.exec(body);
  if (height === null || txs === null) return [];
  const list: readonly string[] = JSON.parse(`[${txs[1]}]`);
  return [list.map(fromBase64)];
}
