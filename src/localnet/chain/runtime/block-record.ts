import { utf8 } from "../../../platform/base/bytes.ts";
import { nsToTimestamp, timestampToNs } from "../../../cosmos/comet/timestamp.ts";
import { Header } from "../../../cosmos/proto/gen/tendermint/types/types.ts";
import type { KVStore } from "../store/cache-store.ts";
import type { BlockFacts } from "./context.ts";

/** Block data stored in the state, for queries at the block's height and for the first checks after a restart. */
export interface BlockRecord extends BlockFacts {
  readonly proposerAddress: Uint8Array;
}

/** Name of the store that contains the record. The consensus module owns it. */
export const BLOCK_RECORD_STORE = "consensus";

const KEY = utf8("LastBlock");

/** Writes the current block's record as a `tendermint.types.Header` with all other fields empty. */
export function writeBlockRecord(store: KVStore, record: BlockRecord): void {
  const { chainId, height, timeNs, proposerAddress } = record;
  const empty = Header.decode(new Uint8Array(0));
  const header = { ...empty, chainId, height, time: nsToTimestamp(timeNs), proposerAddress };
  store.set(KEY, Header.encode(header).finish());
}

/** Reads the record. Returns undefined before the first block. */
export function readBlockRecord(store: KVStore): BlockRecord | undefined {
  const bytes = store.get(KEY);
  if (bytes === undefined) return undefined;
  const { chainId, height, time, proposerAddress } = Header.decode(bytes);
  return { chainId, height, timeNs: timestampToNs(time), proposerAddress };
}
