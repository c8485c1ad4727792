import { MsgUpdateClient } from "../../../cosmos/proto/gen/ibc/core/client/v1/tx.ts";
import { Header } from "../../../cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { TxBody, TxRaw } from "../../../cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { TYPE_URL } from "../../../cosmos/proto/registry.ts";
import { toHex } from "../../../platform/base/bytes.ts";
import type { TxResult } from "../../chain/runtime/abci.ts";

type CheckTx = (tx: Uint8Array, recheck: boolean) => TxResult;

/** Returns true if a revert has removed the block with this hash (32 bytes) from its chain. */
type IsRemoved = (blockHash: Uint8Array) => boolean;

export type RemovedHeaders = ReturnType<typeof createRemovedHeaders>;

/**
 * Rejects transactions that update a light client to a removed block of the other chain. A relayer that has not noticed a revert
 * yet sends such updates. The light client would accept them, because the same validators signed the removed block. But such a
 * client would be ahead of its chain or would contradict the chain. Relayers could then not prove any state until the chain passes
 * the block's height.
 */
export function createRemovedHeaders(checkTx: CheckTx) {
  let isRemoved: IsRemoved | undefined;
  return {
    /** Sets the function that recognizes removed blocks. Until it is set, no header is rejected. */
    reject: (next: IsRemoved): void => {
      isRemoved = next;
    },
    /** Runs CheckTx, or returns code 18 of codespace "sdk" if the transaction contains a removed block's header. */
    checkTx: (tx: Uint8Array, recheck: boolean): TxResult => {
      const removed = isRemoved === undefined ? undefined : headersOf(tx).find(isRemoved);
      return removed === undefined ? checkTx(tx, recheck) : refusal(removed);
    },
  };
}

/** Returns the block hashes of the headers in a transaction's client updates. */
function headersOf(tx: Uint8Array): readonly Uint8Array[] {
  try {
    const { messages } = TxBody.decode(TxRaw.decode(tx).bodyBytes);
    return messages
      .filter(({ typeUrl }) => typeUrl === TYPE_URL.updateClient)
      .flatMap(({ value }) => MsgUpdateClient.decode(value).clientMessage ?? [])
      .filter(({ typeUrl }) => typeUrl === TYPE_URL.tendermintHeader)
      .flatMap(({ value }) => Header.decode(value).signedHeader?.commit?.blockId?.hash ?? []);
  } catch {
    // Ignore the error, because CheckTx rejects undecodable bytes with a better message.
    return [];
  }
}

/** Returns a CheckTx result with the Cosmos SDK's `ErrInvalidRequest`. */
function refusal(hash: Uint8Array): TxResult {
  return {
    code: 18,
    codespace: "sdk",
    log: `a revert has removed block ${toHex(hash).toUpperCase()} from its chain, so no client can be updated to it: invalid request`,
    data: new Uint8Array(),
    gasWanted: 0n,
    gasUsed: 0n,
    events: [],
  };
}
