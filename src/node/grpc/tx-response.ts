import { toHex } from "../../base/bytes.ts";
import { formatRfc3339Ns, NS_PER_SECOND } from "../../base/rfc3339.ts";
import type { ChainEvent } from "../../chain/runtime/events.ts";
import { decodeTx } from "../../chain/runtime/tx.ts";
import type { TxResponse } from "../../proto/gen/cosmos/base/abci/v1beta1/abci.ts";
import { Tx } from "../../proto/gen/cosmos/tx/v1beta1/tx.ts";
import type { Event } from "../../proto/gen/tendermint/abci/types.ts";
import { TYPE_URL } from "../../proto/type-urls.ts";
import type { BroadcastResult, StoredTx } from "../node-view.ts";

/** Decodes a transaction as strictly as the chain does. Throws `ModuleError` sdk/2. */
export function decodeFullTx(bytes: Uint8Array, chainName: string): Tx {
  // Signers are not asked for here, so no handlers are needed.
  const { body, authInfo, raw } = decodeTx(bytes, { chainName, handlers: new Map() });
  return { body, authInfo, signatures: raw.signatures };
}

/** An executed transaction with its result; the time is that of its block, in whole seconds. */
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
    timestamp: formatRfc3339Ns(
      blockTimeNs - (((blockTimeNs % NS_PER_SECOND) + NS_PER_SECOND) % NS_PER_SECOND),
    ),
    events: events.map(toProtoEvent),
  };
}

/** What became of a broadcast: only the verdict of CheckTx is known. */
export function broadcastResponse({ hash, check }: BroadcastResult): TxResponse {
  const { code, codespace, log, data } = check;
  return { ...emptyTxResponse(hash), code, codespace, data: upperHex(data), rawLog: log };
}

/** A response that says nothing but the hash. */
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

function toProtoEvent({ type, attributes }: ChainEvent): Event {
  return { type, attributes: [...attributes] };
}

function upperHex(bytes: Uint8Array): string {
  return toHex(bytes).toUpperCase();
}
