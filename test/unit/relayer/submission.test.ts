import { describe, expect, it } from "vitest";
import type {
  Confirmation,
  SimulationOutcome,
  TxSender,
  WireMessage,
} from "../../../src/client/tx-sender.ts";
import { submit } from "../../../src/relayer/submission.ts";
import { sampleResult } from "./samples.ts";

const options = {
  submitTypeUrl: "/neutron.interchainqueries.MsgSubmitQueryResult",
  gasAdjustmentPermille: 1_300n,
  mostGas: 1_000n,
};
const update: WireMessage = { typeUrl: "/ibc.core.client.v1.MsgUpdateClient", value: new Uint8Array(1) };
const signal = new AbortController().signal;
const included: Confirmation = { kind: "included", height: 12n, gasUsed: 900n, gasWanted: 1_300n };

/** A sender whose chain refuses messages of these query ids at simulation, naming them or not. */
function fakeSender(
  bad: readonly number[],
  more: {
    naming?: boolean;
    confirm?: (sent: number) => Confirmation;
    gasOf?: (messages: number) => bigint;
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
const faultsOf = (outcome: Awaited<ReturnType<typeof submit>>): Record<string, string | undefined> =>
  Object.fromEntries(outcome.outcomes.map(({ result, fault }) => [`${result.state.query.id}`, fault?.code]));

describe("submit", () => {
  it("sends all with the update in front, at the adjusted gas", async () => {
    const chain = fakeSender([]);
    const outcome = await submit({ update, results: four }, chain.sender, options, signal);
    expect(chain.sent).toEqual([{ ids: [0, 1, 2, 3, 4], gasLimit: 1_301n }]);
    expect(outcome).toMatchObject({ height: 12n, gasUsed: 900n, headerRefused: undefined });
    expect(faultsOf(outcome)).toEqual({ 1: undefined, 2: undefined, 3: undefined, 4: undefined });
  });

  it("leaves out what simulation names and sends the rest", async () => {
    const chain = fakeSender([2, 4]);
    const outcome = await submit({ update, results: four }, chain.sender, options, signal);
    expect(chain.sent.map(({ ids }) => ids)).toEqual([[0, 1, 3]]);
    expect(faultsOf(outcome)).toEqual({ 1: undefined, 2: "rejected", 3: undefined, 4: "rejected" });
  });

  it("halves a batch whose refusal names no message, and updates the client once", async () => {
    const chain = fakeSender([3], { naming: false });
    const outcome = await submit({ update, results: four }, chain.sender, options, signal);
    expect(chain.sent.map(({ ids }) => ids)).toEqual([[0, 1, 2], [4]]);
    expect(faultsOf(outcome)).toEqual({ 1: undefined, 2: undefined, 3: "rejected", 4: undefined });
  });

  it("halves a batch that takes more gas than a transaction may, down to single results", async () => {
    const chain = fakeSender([], { gasOf: (messages) => BigInt(messages) * 400n });
    const outcome = await submit({ update, results: four }, chain.sender, options, signal);
    expect(chain.sent.map(({ ids }) => ids)).toEqual([[0, 1], [2], [3, 4]]);
    expect(outcome.gasUsed).toBe(2_700n);
    expect(faultsOf(outcome)).toEqual({ 1: undefined, 2: undefined, 3: undefined, 4: undefined });
    const dear = fakeSender([], { gasOf: () => 5_000n });
    await submit({ update: undefined, results: four.slice(0, 2) }, dear.sender, options, signal);
    expect(dear.sent).toEqual([
      { ids: [1], gasLimit: 6_501n },
      { ids: [2], gasLimit: 6_501n },
    ]);
  });

  it("keeps the verdict on what was left out before the rest was halved", async () => {
    const chain = fakeSender([2], { gasOf: (messages) => BigInt(messages) * 400n });
    const outcome = await submit({ update, results: four }, chain.sender, options, signal);
    expect(chain.sent.map(({ ids }) => ids)).toEqual([[0, 1], [3], [4]]);
    expect(faultsOf(outcome)).toEqual({ 1: undefined, 2: "rejected", 3: undefined, 4: undefined });
  });

  it("sends nothing when every result is refused", async () => {
    const chain = fakeSender([1, 2, 3, 4]);
    const outcome = await submit({ update: undefined, results: four }, chain.sender, options, signal);
    expect(chain.sent).toEqual([]);
    expect(outcome.height).toBeUndefined();
    expect(Object.values(faultsOf(outcome))).toEqual(["rejected", "rejected", "rejected", "rejected"]);
  });

  it("says when the header itself is refused", async () => {
    const chain = fakeSender([0]);
    const outcome = await submit({ update, results: four }, chain.sender, options, signal);
    expect(outcome.headerRefused).toBe("refused 0");
    expect(Object.values(faultsOf(outcome))).toEqual([
      "not-included",
      "not-included",
      "not-included",
      "not-included",
    ]);
  });

  it("blames the message that a failed block names, and holds the others free of guilt", async () => {
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
    expect(outcome.height).toBeUndefined();
    expect(faultsOf(outcome)).toEqual({
      1: "not-included",
      2: "rejected",
      3: "not-included",
      4: "not-included",
    });
  });

  it("keeps all results due when a full block, a refusal or silence swallowed the transaction", async () => {
    const log = "block utilization of 34110397 cannot exceed max block utilization of 30000000";
    const ends: Confirmation[] = [
      { kind: "failed", height: 12n, code: 1, codespace: "undefined", log, gasUsed: 10n },
      { kind: "refused", code: 13, codespace: "sdk", log: "insufficient fee" },
      { kind: "lost", reason: "not in a block within 60000 ms" },
    ];
    for (const end of ends) {
      const chain = fakeSender([], { confirm: () => end });
      const outcome = await submit({ update, results: four }, chain.sender, options, signal);
      expect(new Set(Object.values(faultsOf(outcome)))).toEqual(new Set(["not-included"]));
    }
  });
});
