import { describe, expect, it } from "vitest";
import type { BroadcastResult } from "../../src/cosmos/client/tx/tx-types.ts";
import { sendUpdates } from "../../src/relayer/connection/client-refresh.ts";
import { failed, refusal, sampleAccount, updates } from "./account-samples.ts";

const signal = new AbortController().signal;

const REFUSED: BroadcastResult = {
  kind: "refused",
  tx: { hash: new Uint8Array(), sequence: 1n, size: 1, gasLimit: 1n, feeAmount: 1n },
  code: 13,
  codespace: "sdk",
  log: "insufficient fee",
};

function setUp(...scene: Parameters<typeof sampleAccount>) {
  const account = sampleAccount(...scene);
  const send = (inner = signal) =>
    sendUpdates(account.deps, { connectionId: "connection-0", updates }, inner);
  return { ...account, send };
}

describe("sendUpdates", () => {
  it("packs the updates in order into transactions of at most so many bytes, and counts what they cost", async () => {
    const { send, sent, metrics, released } = setUp();
    expect(await send()).toBe(4n);
    const sizes = sent.map(({ messages }) => messages.map(({ value }) => value.length));
    expect(sizes).toEqual([[60], [50, 50], [100], [10]]);
    expect(sent[0]?.gasLimit).toBe(1_300n);
    expect((await metrics.clientUpdates.get()).values).toMatchObject([{ value: 5 }]);
    expect((await metrics.fees.get()).values).toMatchObject([{ value: 52 }]);
    expect((await metrics.gasUsed.get()).values).toMatchObject([{ value: 3_600 }]);
    expect(released()).toBe(0);
  });

  it("sends nothing more after one that is refused", async () => {
    const { send, sent } = setUp({ simulation: refusal });
    await expect(send()).rejects.toThrow("the client update was refused: no consensus state");
    expect(sent).toEqual([]);
  });

  it("reports whether the account can pay", async () => {
    const log = "spendable balance 0untrn is smaller than 13untrn: insufficient funds";
    const poor = setUp({ broadcast: () => ({ ...REFUSED, code: 5, log }) });
    await expect(poor.send()).rejects.toThrow(log);
    expect(poor.funds).toEqual([log]);
    const { send, funds } = setUp();
    await send();
    expect(new Set(funds)).toEqual(new Set(["accepted"]));
  });

  it("sends nothing that the gate does not admit", async () => {
    const { send, sent } = setUp({ admission: { admitted: false, reason: "the reserve" } });
    await expect(send()).rejects.toMatchObject({
      facts: { code: "transaction-refused", connectionId: "connection-0" },
      message: "the client update was refused: the reserve",
    });
    expect(sent).toEqual([]);
  });

  it.each<readonly [string, BroadcastResult | undefined, string]>([
    ["refuses it", REFUSED, "insufficient fee"],
    ["expects another sequence", { kind: "skipped", reason: "mismatch" }, "mismatch"],
    ["says nothing", undefined, "it was not sent"],
  ])("gives back what a transaction was allowed to cost when the node %s", async (_what, result, text) => {
    const { send, released } = setUp({ broadcast: () => result });
    await expect(send()).rejects.toThrow(`the client update was refused: ${text}`);
    expect(released()).toBe(1);
  });

  it("gives it back when the account cannot be read, and keeps it when the signal ends a broadcast", async () => {
    const broadcast = (): never => {
      throw new Error("no endpoint");
    };
    const failing = setUp({ broadcast });
    await expect(failing.send()).rejects.toThrow("no endpoint");
    expect(failing.released()).toBe(1);
    const ended = setUp({ broadcast });
    await expect(ended.send(AbortSignal.abort(new Error("stop")))).rejects.toThrow("no endpoint");
    expect(ended.released()).toBe(0);
  });

  it("gives back what a lost transaction was allowed to cost, and sends nothing more", async () => {
    const { send, sent, metrics, released } = setUp({ ending: () => ({ kind: "lost", reason: "gone" }) });
    await expect(send()).rejects.toThrow("the client update did not succeed: lost");
    expect([sent.length, released()]).toEqual([1, 1]);
    expect((await metrics.fees.get()).values).toMatchObject([{ value: 0 }]);
  });

  it("pays for one that fails in its block, and sends nothing more", async () => {
    const { send, sent, metrics, released } = setUp({ ending: () => failed });
    await expect(send()).rejects.toThrow("the client update did not succeed: failed");
    expect([sent.length, released()]).toEqual([1, 0]);
    expect((await metrics.fees.get()).values).toMatchObject([{ value: 13 }]);
    expect((await metrics.clientUpdates.get()).values).toMatchObject([{ value: 0 }]);
  });

  it("looks a transaction up each second, for two minutes", async () => {
    const { send, clock, lookUps } = setUp({ ending: () => "none" });
    let error: unknown;
    const sending = send().catch((thrown: unknown) => void (error = thrown));
    await clock.advance(119_999);
    expect([lookUps(), error]).toEqual([120, undefined]);
    await clock.advance(1);
    await sending;
    expect(error).toMatchObject({ message: "the client update did not succeed: lost" });
  });

  it("ends with its signal while it looks a transaction up", async () => {
    const { send, clock } = setUp({ ending: () => "none" });
    const stop = new AbortController();
    const sending = expect(send(stop.signal)).rejects.toThrow("stop");
    await clock.advance(10_000);
    stop.abort(new Error("stop"));
    await sending;
  });
});
