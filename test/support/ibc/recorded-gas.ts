import { fromBase64 } from "../../../src/platform/base/bytes.ts";
import { text } from "../recorded-client.ts";
import {
  inOrderOfArrival,
  type RecordedChainId,
  type RecordedTx,
  type ReplayedTx,
  startRecordedChain,
} from "./recorded-packets.ts";

// The gas of a recorded transaction is that of its messages, its size, and the ante and post handlers of the deployed chain, which the
// replay does not run.

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
/** The handlers of the transactions before used about 4,000 less on both chains, whatever the messages were. */
const FIRST_COMPARED = 22;
/** Each call of the recorded limiter reads a longer record of the contract than ours. */
const LIMITER_CALL = 162;
/** Packets with memos for packet forwarding and for a contract: neither the module nor the contract is here. */
const WITH_MEMOS = 168;

function payerOf({ messages: [message] }: RecordedTx): "account" | "relayer" {
  return RELAYERS.includes(text(message?.["signer"] ?? "")) ? "relayer" : "account";
}

/** Recorded gas beyond ours, 0 within the digits of a balance; undefined where it is not compared. */
function gasBeyond(tx: RecordedTx, gas: bigint | undefined): number | undefined {
  if (tx.gas_used === null || tx.code !== 0 || gas === undefined) return undefined;
  if (tx.seq < FIRST_COMPARED || tx.seq === WITH_MEMOS) return undefined;
  const calls = tx.events.filter(({ type }) => type === "sudo").length;
  const ours = Number(gas) + fromBase64(tx.tx_base64).length * GAS_OF_BYTE + calls * LIMITER_CALL;
  const beyond = Number(tx.gas_used) - ours - HANDLERS - HANDLERS_OF[tx.chain_id][payerOf(tx)];
  return Math.abs(beyond) <= DIGITS ? 0 : beyond;
}

/** A recorded transaction, run with the profile of the recording. */
interface MeasuredTx {
  readonly tx: RecordedTx;
  readonly ours: ReplayedTx;
  /** Recorded gas beyond ours; undefined where it is not compared. */
  readonly beyond: number | undefined;
}

/** Runs all recorded transactions of both chains. */
export function measureRecordedTxs(): readonly MeasuredTx[] {
  const chains = {
    "test-1": startRecordedChain("test-1", "deployed"),
    "test-2": startRecordedChain("test-2", "deployed"),
  };
  return inOrderOfArrival().map((tx) => {
    const ours = chains[tx.chain_id].run(tx);
    return { tx, ours, beyond: gasBeyond(tx, ours.gas) };
  });
}
