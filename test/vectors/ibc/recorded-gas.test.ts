import { describe, expect, it } from "vitest";
import { fromBase64 } from "../../../src/platform/base/bytes.ts";
import { text } from "../../support/recorded-client.ts";
import {
  inOrderOfArrival,
  type RecordedChainId,
  type RecordedTx,
  startRecordedChain,
} from "../../support/ibc/recorded-packets.ts";

// SOURCE: test/fixtures/ibc/handshake-and-packets.json. The gas of a recorded transaction is that of its messages, its size, and the
// ante and post handlers of the deployed chain, which the replay does not run.

/** Ante and post handlers: what a client update without effect used besides its message and its size. */
const HANDLERS = 105_097;
const GAS_OF_BYTE = 10;
/** The handlers cost so much more or less by the length of the balances and accounts that the fee touches. */
const HANDLERS_OF: Readonly<Record<RecordedChainId, { readonly account: number; readonly relayer: number }>> =
  {
    "test-1": { account: 0, relayer: 1042 },
    "test-2": { account: -165, relayer: 877 },
  };
const RELAYERS = [
  "neutron1mjk79fjjgpplak5wq838w0yd982gzkyf8fxu8u",
  "neutron17dtl0mjt3t77kpuhg2edqzjpszulwhgzcdvagh",
];
/** A digit more or less in balances that are not recorded. */
const DIGITS = 140;
/** Before, the fee market's state of both chains was shorter by the same amount for all transactions. */
const FIRST_COMPARED = 22;
/** Each call of the recorded limiter reads a longer record of the contract than ours. */
const LIMITER_CALL = 162;
/** Packets with memos for packet forwarding and for a contract: neither the module nor the contract is here. */
const WITH_MEMOS = 168;

function payerOf({ messages: [message] }: RecordedTx): "account" | "relayer" {
  return RELAYERS.includes(text(message?.["signer"] ?? "")) ? "relayer" : "account";
}

/** Recorded gas beyond ours, for each transaction that succeeded. */
function measure(): readonly { readonly tx: RecordedTx; readonly beyond: number }[] {
  const chains = {
    "test-1": startRecordedChain("test-1", "deployed"),
    "test-2": startRecordedChain("test-2", "deployed"),
  };
  return inOrderOfArrival().flatMap((tx) => {
    const { gas } = chains[tx.chain_id].run(tx);
    if (tx.gas_used === null || tx.code !== 0 || gas === undefined) return [];
    const calls = tx.events.filter(({ type }) => type === "sudo").length;
    const ours = Number(gas) + fromBase64(tx.tx_base64).length * GAS_OF_BYTE + calls * LIMITER_CALL;
    const handlers = HANDLERS + HANDLERS_OF[tx.chain_id][payerOf(tx)];
    return [{ tx, beyond: Number(tx.gas_used) - ours - handlers }];
  });
}

describe("gas of the messages of IBC", () => {
  const measured = measure();

  it("is measured for the transactions that succeeded", () => {
    expect(measured.length).toBeGreaterThanOrEqual(100);
  });

  it.each(
    measured
      .filter(({ tx: { seq } }) => seq >= FIRST_COMPARED && seq !== WITH_MEMOS)
      .map(({ tx, beyond }) => [tx.seq, tx.name, beyond] as const),
  )("%d %s is that of the deployed chain", (_seq, _name, beyond) => {
    expect(Math.abs(beyond)).toBeLessThanOrEqual(DIGITS);
  });
});
