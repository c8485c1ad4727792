import { upperHex } from "../../../platform/base/bytes.ts";
import { formatRfc3339Ns, NS_PER_SECOND } from "../../../platform/base/time.ts";
import type { ChainEvent } from "../../chain/runtime/events.ts";
import { decodeTx } from "../../chain/runtime/tx.ts";
import type { TxResponse } from "../../../cosmos/proto/gen/cosmos/base/abci/v1beta1/abci.ts";
import { Tx } from "../../../cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import type { Event } from "../../../cosmos/proto/gen/tendermint/abci/types.ts";
import { TYPE_URL } from "../../../cosmos/proto/type-urls.ts";
import type { BroadcastResult, StoredTx } from "../node-view.ts";

/** Decodes a transaction as strictly as the chain does. Throws `ModuleError` sdk/2. */
export function decodeFullTx(bytes: Uint8Array, chainName: string): Tx {
  // Handlers only serve to find a message's signers, and nothing here needs the signers.
  const { body, authInfo, raw } = decodeTx(bytes, { chainName, handlers: new Map() });
  return { body, authInfo, signatures: raw.signatures };
}

/** An executed transaction with its result. `timestamp` is the time of its block. */
export function storedTxResponse(stored: StoredTx, tx: Tx, blockTimeNs: bigint): TxResponse {
  const { code, codespace, log, data, gasWanted, gasUsed, events } = stored.result;
  return {
    height: stored.height,
    txhash: upperHex(stored.hash),
    codespace,
    code,
    data: upperHex(data),
    rawLog: log,
    logs: [],
    info: "",
    gasWanted,
    gasUsed,
    tx: { typeUrl: TYPE_URL.tx, value: Tx.encode(tx).finish() },
    timestamp: formatRfc3339Ns(wholeSeconds(blockTimeNs)),
    events: events.map(toProtoEvent),
  };
}

/** The result of a broadcast in sync mode. It holds only what CheckTx returned. */
export function broadcastResponse({ hash, check }: BroadcastResult): TxResponse {
  const { code, codespace, log, data } = check;
  return { ...emptyTxResponse(hash), code, codespace, data: upperHex(data), rawLog: log };
}

/** A response with nothing but the hash. */
export function emptyTxResponse(hash: Uint8Array): TxResponse {
  return {
    height: 0n,
    txhash: upperHex(hash),
    codespace: "",
    code: 0,
    data: "",
    rawLog: "",
    logs: [],
    info: "",
    gasWanted: 0n,
    gasUsed: 0n,
    tx: undefined,
    timestamp: "",
    events: [],
  };
}

/** The SDK formats the time with `time.RFC3339`, which has no fraction. Rounds down also before 1970. */
function wholeSeconds(timeNs: bigint): bigint {
  return timeNs - (((timeNs % NS_PER_SECOND) + NS_PER_SECOND) % NS_PER_SECOND);
}

function toProtoEvent({ type, attributes }: ChainEvent): Event {
  return { type, attributes: [...attributes] };
}
