import { concat, prefixEnd, readUint64BigEndian, uint64BigEndian } from "../../../../platform/base/bytes.ts";
import { ContractCodeHistoryEntry } from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/types.ts";
import type { Context } from "../../runtime/context.ts";
import { CODE_INDEX_PREFIX, CREATOR_INDEX_PREFIX, HISTORY_PREFIX, MODULE_NAME } from "./keys.ts";

/** Length of an `AbsoluteTxPosition` in a key: height and index of the transaction, 8 bytes each. */
export const POSITION_BYTES = 16;

const EMPTY = new Uint8Array(0);

/** Returns the prefix of the contracts of a code, in order of their creation. The position and the address follow. */
export function codeIndexPrefix(codeId: bigint): Uint8Array {
  return concat(CODE_INDEX_PREFIX, uint64BigEndian(codeId));
}

/** Returns the prefix of the contracts of a creator, in order of their creation. The position and the address follow. */
export function creatorIndexPrefix(creator: Uint8Array): Uint8Array {
  return concat(CREATOR_INDEX_PREFIX, Uint8Array.of(creator.length), creator);
}

/** Returns the prefix of the history of a contract. The number of the entry follows, 8 bytes, from 1. */
export function historyPrefix(address: Uint8Array): Uint8Array {
  return concat(HISTORY_PREFIX, address);
}

/**
 * Writes the indexes and the history of a new contract. Order and number of store accesses are wasmd's, because each access
 * consumes gas.
 */
export function indexContract(
  context: Context,
  contract: { readonly address: Uint8Array; readonly creator: Uint8Array },
  entry: ContractCodeHistoryEntry,
): void {
  const { address, creator } = contract;
  const position = positionOf(entry);
  const store = context.store(MODULE_NAME);
  store.set(concat(codeIndexPrefix(entry.codeId), position, address), EMPTY);
  store.set(concat(creatorIndexPrefix(creator), position, address), EMPTY);
  const prefix = historyPrefix(address);
  const [last] = store.iterateReverse(prefix, prefixEnd(prefix));
  const number = last === undefined ? 0n : readUint64BigEndian(last[0].subarray(prefix.length));
  store.set(concat(prefix, uint64BigEndian(number + 1n)), ContractCodeHistoryEntry.encode(entry).finish());
}

function positionOf({ updated }: ContractCodeHistoryEntry): Uint8Array {
  return concat(uint64BigEndian(updated?.blockHeight ?? 0n), uint64BigEndian(updated?.txIndex ?? 0n));
}

/** Returns the history of a contract, oldest first. */
export function historyOf(context: Context, address: Uint8Array): readonly ContractCodeHistoryEntry[] {
  const prefix = historyPrefix(address);
  const entries = context.store(MODULE_NAME).iterate(prefix, prefixEnd(prefix));
  return [...entries].map(([, value]) => ContractCodeHistoryEntry.decode(value));
}
