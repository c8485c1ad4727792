import { expect, it } from "vitest";
import { fromBase64 } from "../../../src/platform/base/bytes.ts";
import { text } from "../../support/recorded-client.ts";
import { inOrderOfArrival, type RecordedTx, startRecordedChain } from "../../support/ibc/recorded-packets.ts";

// SOURCE: test/fixtures/ibc/handshake-and-packets.json. The gas of a recorded transaction is that of its messages, its size, and the
// ante and post handlers of the deployed chain, which the replay does not run.

/** Ante and post handlers: what a client update without effect used besides its message and its size. */
const HANDLERS = 105_097;
const GAS_OF_BYTE = 10;
/** A packet has a memo for a module that is not here. */
const WITH_MEMOS = 168;

/**
 * Our gas in thousandths of the recorded one, for transactions with these messages: how many there are, the least and the greatest.
 * docs/conformance.md says why they differ.
 */
const EXPECTED: Readonly<Record<string, readonly [count: number, least: number, greatest: number]>> = {
  Acknowledgement: [1, 1003, 1003],
  ChannelOpenInit: [3, 994, 994],
  ConnectionOpenInit: [1, 987, 987],
  ConnectionOpenTry: [5, 991, 991],
  CreateClient: [2, 1021, 1022],
  RecvPacket: [5, 875, 1001],
  "Send,Acknowledgement,Timeout": [1, 977, 977],
  SubmitProposal: [10, 1000, 1000],
  Timeout: [1, 980, 980],
  Transfer: [30, 910, 980],
  UpdateClient: [17, 993, 1000],
  "UpdateClient,Acknowledgement": [10, 986, 1000],
  "UpdateClient,ChannelOpenAck": [1, 1002, 1002],
  "UpdateClient,ChannelOpenConfirm": [1, 1003, 1003],
  "UpdateClient,ChannelOpenInit": [1, 1009, 1009],
  "UpdateClient,ChannelOpenTry": [1, 1009, 1009],
  "UpdateClient,ConnectionOpenAck": [1, 1016, 1016],
  "UpdateClient,ConnectionOpenConfirm": [1, 1018, 1018],
  "UpdateClient,ConnectionOpenInit": [1, 1008, 1008],
  "UpdateClient,ConnectionOpenTry": [1, 1007, 1007],
  "UpdateClient,RecvPacket": [3, 946, 997],
  "UpdateClient,RecvPacket,Acknowledgement": [3, 953, 986],
  "UpdateClient,RecvPacket,Acknowledgement,Timeout": [1, 908, 908],
  "UpdateClient,RecvPacket,Timeout": [2, 978, 981],
};

/** Each type of the messages of a transaction once. */
function kindOf({ messages }: RecordedTx): string {
  return [...new Set(messages.map((message) => text(message["@type"]).replace(/^.*\.Msg/, "")))].join();
}

/** The limiter of the replay costs nothing. */
function isCompared({ seq, events }: RecordedTx): boolean {
  return seq !== WITH_MEMOS && !events.some(({ type }) => type === "sudo");
}

function measure(): ReadonlyMap<string, readonly number[]> {
  const chains = { "test-1": startRecordedChain("test-1"), "test-2": startRecordedChain("test-2") };
  const parts = new Map<string, number[]>();
  for (const tx of inOrderOfArrival()) {
    const { gas } = chains[tx.chain_id].run(tx);
    if (tx.gas_used === null || tx.code !== 0 || gas === undefined || !isCompared(tx)) continue;
    const ours = Number(gas) + fromBase64(tx.tx_base64).length * GAS_OF_BYTE + HANDLERS;
    const part = Math.round((ours * 1000) / Number(tx.gas_used));
    parts.set(kindOf(tx), [...(parts.get(kindOf(tx)) ?? []), part]);
  }
  return parts;
}

it("gas of the messages of IBC is that of the deployed chain, but for modules that are not here", () => {
  const measured = [...measure()].map(
    ([kind, parts]) => [kind, [parts.length, Math.min(...parts), Math.max(...parts)]] as const,
  );
  expect(Object.fromEntries(measured)).toEqual(EXPECTED);
});
