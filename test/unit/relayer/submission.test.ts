import { describe, expect, it } from "vitest";
import type {
  Confirmation,
  SimulationOutcome,
  TxSender,
  WireMessage,
} from "../../../src/client/tx/tx-sender.ts";
import { submit } from "../../../src/relayer/submit/submission.ts";
import { sampleResult } from "./samples.ts";

const options = {
  submitTypeUrl: "/neutron.interchainqueries.MsgSubmitQueryResult",
  gasAdjustmentPermille: 1_300n,
  maxGas: 1_000n,
};
const update: WireMessage = { typeUrl: "/ibc.core.client.v1.MsgUpdateClient", value: new Uint8Array(1) };
const signal = new AbortController().signal;
const included: Confirmation = {
  kind: "included",
  height: 12n,
  gasUsed: 900n,
  gasWanted: 1_300n,
  data: new Uint8Array(0),
};

/** A sender whose simulation refuses these query ids, with or without a message index. */
function fakeSender(
  bad: readonly number[],
  more: {
    naming?: boolean;
    confirm?: (sent: number) => Confirmation;
    gasOf?: (messages: number) => bigint;
    /** The node refuses the request of a simulation with more messages. */
    maxMessages?: number;
  } = {},
) {
  const simulated: number[][] = [];
  const sent: { ids: number[]; gasLimit: bigint }[] = [];
  const idsOf = (messages: readonly WireMessage[]): number[] =>
    messages.map(({ typeUrl, value }) => (typeUrl === update.typeUrl ? 0 : (value[0] ?? -1)));
  const sender: TxSender = {
    address: "neutron1relayer",
    simulate: async (messages): Promise<SimulationOutcome> => {
      const ids = idsOf(messages);
      simulated.push(ids);
      if (ids.length > (more.maxMessages ?? 100))
        return { ok: false, code: 21, codespace: "sdk", log: "body too large", failedMessage: undefined };
      const at = ids.findIndex((id) => bad.includes(id));
      if (at < 0) return { ok: true, gasUsed: more.gasOf?.(ids.length) ?? 1_000n };
      const failedMessage = more.naming === false ? undefined : at;
      return { ok: false, code: 1, codespace: "undefined", log: `refused ${ids[at]}`, failedMessage };
    },
    send: async (messages, gasLimit) => {
      sent.push({ ids: idsOf(messages), gasLimit });
      const confirmation = more.confirm?.(sent.length) ?? included;
      return { hash: new Uint8Array(32), bytes: 500, gasLimit, feeAmount: 1n, confirmation };
    },
  };
  return { sender, simulated, sent };
}

const four = [1n, 2n, 3n, 4n].map((id) => sampleResult(id));
/** Returns the height, the error code or "unsent" by query id. Every result must be in exactly one list. */
function outcomesOf(outcome: Awaited<ReturnType<typeof submit>>): Record<string, bigint | string> {
  const entries = [
    ...outcome.included.map(({ result, height }) => [result, height] as const),
    ...outcome.refused.map(({ result, error }) => [result, error.code] as const),
    ...outcome.unsent.map((result) => [result, "unsent"] as const),
  ];
  expect(new Set(entries.map(([result]) => result.state.query.id)).size).toBe(entries.length);
  return Object.fromEntries(entries.map(([{ state }, value]) => [`${state.query.id}`, value]));
}

describe("submit", () => {
  it("sends all results after the client update, with the adjusted gas", async () => {
    const chain = fakeSender([]);
    const outcome = await submit({ update, results: four }, chain.sender, options, signal);
    expect(chain.sent).toEqual([{ ids: [0, 1, 2, 3, 4], gasLimit: 1_301n }]);
    expect(outcome.transactions).toEqual([{ height: 12n, results: 4, gasUsed: 900n, bytes: 500 }]);
    expect(outcome.stop).toBeUndefined();
    expect(outcomesOf(outcome)).toEqual({ 1: 12n, 2: 12n, 3: 12n, 4: 12n });
  });

  it("leaves out the results that simulations name and sends the others", async () => {
    const chain = fakeSender([2, 4]);
    const outcome = await submit({ update, results: four }, chain.sender, options, signal);
    expect(chain.sent.map(({ ids }) => ids)).toEqual([[0, 1, 3]]);
    expect(outcomesOf(outcome)).toEqual({ 1: 12n, 2: "rejected", 3: 12n, 4: "rejected" });
  });

  it("halves a batch when the simulation names no message, and updates the client once", async () => {
    const chain = fakeSender([3], { naming: false });
    const outcome = await submit({ update, results: four }, chain.sender, options, signal);
    expect(chain.sent.map(({ ids }) => ids)).toEqual([[0, 1, 2], [4]]);
    expect(outcomesOf(outcome)).toEqual({ 1: 12n, 2: 12n, 3: "rejected", 4: 12n });
  });

  it("halves a batch above the gas of a transaction, down to single results", async () => {
    const chain = fakeSender([], { gasOf: (messages) => BigInt(messages) * 400n });
    const outcome = await submit({ update, results: four }, chain.sender, options, signal);
    expect(chain.sent.map(({ ids }) => ids)).toEqual([[0, 1], [2], [3, 4]]);
    expect(outcome.transactions.map(({ results }) => results)).toEqual([1, 1, 2]);
    expect(outcomesOf(outcome)).toEqual({ 1: 12n, 2: 12n, 3: 12n, 4: 12n });
    const dear = fakeSender([], { gasOf: () => 5_000n });
    await submit({ update: undefined, results: four.slice(0, 2) }, dear.sender, options, signal);
    expect(dear.sent).toEqual([
      { ids: [1], gasLimit: 6_501n },
      { ids: [2], gasLimit: 6_501n },
    ]);
  });

  it("reports a result that was left out before the others were halved", async () => {
    const chain = fakeSender([2], { gasOf: (messages) => BigInt(messages) * 400n });
    const outcome = await submit({ update, results: four }, chain.sender, options, signal);
    expect(chain.sent.map(({ ids }) => ids)).toEqual([[0, 1], [3], [4]]);
    expect(outcomesOf(outcome)).toEqual({ 1: 12n, 2: "rejected", 3: 12n, 4: 12n });
  });

  it("halves a batch whose simulation is too large for the node, and reports that it was too large", async () => {
    const chain = fakeSender([], { maxMessages: 3 });
    const outcome = await submit({ update, results: four }, chain.sender, options, signal);
    expect(chain.sent.map(({ ids }) => ids)).toEqual([
      [0, 1, 2],
      [3, 4],
    ]);
    expect(outcomesOf(outcome)).toEqual({ 1: 12n, 2: 12n, 3: 12n, 4: 12n });
    expect(outcome.isTooLarge).toBe(true);
    const fitting = await submit({ update, results: four }, fakeSender([]).sender, options, signal);
    expect(fitting.isTooLarge).toBe(false);
  });

  it("refuses a single result that is too large for the node, and sends the others", async () => {
    const chain = fakeSender([], { maxMessages: 1 });
    const outcome = await submit({ update, results: four.slice(0, 1) }, chain.sender, options, signal);
    expect(chain.sent).toEqual([]);
    expect(outcomesOf(outcome)).toEqual({ 1: "too-large" });
  });

  it("sends nothing when every result is refused", async () => {
    const chain = fakeSender([1, 2, 3, 4]);
    const outcome = await submit({ update: undefined, results: four }, chain.sender, options, signal);
    expect(chain.sent).toEqual([]);
    expect(outcome.transactions).toEqual([]);
    expect(Object.values(outcomesOf(outcome))).toEqual(["rejected", "rejected", "rejected", "rejected"]);
  });

  it("stops when the update header is refused", async () => {
    const chain = fakeSender([0]);
    const outcome = await submit({ update, results: four }, chain.sender, options, signal);
    expect(outcome.stop).toEqual({ kind: "header-refused", reason: "refused 0" });
    expect(outcomesOf(outcome)).toEqual({ 1: "unsent", 2: "unsent", 3: "unsent", 4: "unsent" });
  });

  it("refuses the message that a failed transaction names, and no other", async () => {
    const failing: Confirmation = {
      kind: "failed",
      height: 12n,
      code: 1114,
      codespace: "interchainqueries",
      log: "failed to execute message; message index: 2: height is invalid",
      gasUsed: 10n,
    };
    const chain = fakeSender([], { confirm: () => failing });
    const outcome = await submit({ update, results: four }, chain.sender, options, signal);
    expect(outcome.transactions).toEqual([]);
    expect(outcomesOf(outcome)).toEqual({
      1: "unsent",
      2: "rejected",
      3: "unsent",
      4: "unsent",
    });
  });

  const fullBlock = "block utilization of 34110397 cannot exceed max block utilization of 30000000";
  it.each<readonly [string, Confirmation]>([
    [
      "unattributed",
      { kind: "failed", height: 12n, code: 1, codespace: "undefined", log: fullBlock, gasUsed: 10n },
    ],
    ["unattributed", { kind: "refused", code: 21, codespace: "sdk", log: "tx too large" }],
    ["refused", { kind: "refused", code: 5, codespace: "sdk", log: "insufficient funds" }],
    ["lost", { kind: "lost", reason: "not in a block within 60000 ms" }],
    [
      "header-refused",
      { kind: "failed", height: 12n, code: 7, codespace: "client", log: "message index: 0: no", gasUsed: 1n },
    ],
  ])("refuses no result when the stop is %s", async (kind, end) => {
    const chain = fakeSender([], { confirm: () => end });
    const outcome = await submit({ update, results: four }, chain.sender, options, signal);
    expect(outcome.stop?.kind).toBe(kind);
    expect(outcomesOf(outcome)).toEqual({ 1: "unsent", 2: "unsent", 3: "unsent", 4: "unsent" });
  });

  it("refuses a single result whose transaction fails without naming a message", async () => {
    const end: Confirmation = {
      kind: "failed",
      height: 1n,
      code: 1,
      codespace: "undefined",
      log: fullBlock,
      gasUsed: 1n,
    };
    const chain = fakeSender([], { confirm: () => end });
    const outcome = await submit({ update, results: four.slice(0, 1) }, chain.sender, options, signal);
    expect(outcome.stop).toBeUndefined();
    expect(outcomesOf(outcome)).toEqual({ 1: "not-included" });
  });

  it("leaves the second half unsent when the first one stops", async () => {
    const chain = fakeSender([], {
      gasOf: (messages) => BigInt(messages) * 250n,
      confirm: () => ({ kind: "lost", reason: "silence" }),
    });
    const outcome = await submit({ update, results: four }, chain.sender, options, signal);
    expect(chain.sent).toHaveLength(1);
    expect(outcomesOf(outcome)).toEqual({ 1: "unsent", 2: "unsent", 3: "unsent", 4: "unsent" });
  });

  it("stops at an error of the account, without simulating each result", async () => {
    const chain = fakeSender([]);
    let simulations = 0;
    const sender: TxSender = {
      ...chain.sender,
      simulate: async () => {
        simulations += 1;
        const log = "account sequence mismatch, expected 9, got 8: incorrect account sequence";
        return { ok: false, code: 32, codespace: "sdk", log, failedMessage: undefined };
      },
    };
    const outcome = await submit({ update, results: four }, sender, options, signal);
    expect(simulations).toBe(1);
    expect(outcome.stop?.kind).toBe("refused");
  });

  it("ends when the simulation names a message that does not exist", async () => {
    const chain = fakeSender([]);
    const sender: TxSender = {
      ...chain.sender,
      simulate: async () => ({ ok: false, code: 1, codespace: "x", log: "no", failedMessage: 77 }),
    };
    const outcome = await submit({ update, results: four }, sender, options, signal);
    expect(outcomesOf(outcome)).toEqual({ 1: "rejected", 2: "rejected", 3: "rejected", 4: "rejected" });
  });
});
