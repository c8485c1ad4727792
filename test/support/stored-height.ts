import { sha256, utf8 } from "../../src/platform/base/bytes.ts";
import type { ChainEvent } from "../../src/localnet/chain/runtime/context.ts";
import type { HeightRecord } from "../../src/localnet/node/storage/block-codec.ts";
import { producedBlock } from "./produced-block.ts";

/** Events of a height. */
export interface HeightEvents {
  /** Events of each transaction. */
  readonly txs: readonly (readonly ChainEvent[])[];
  readonly block: readonly ChainEvent[];
}

/** Returns what a store saves for a height with these events. Each transaction has bytes of its own. */
export function storedHeight(height: bigint, events: HeightEvents): HeightRecord {
  const { block, commit, results } = producedBlock(height);
  const hash = sha256(utf8(`block ${height}`));
  return {
    block: {
      ...block,
      blockId: { ...block.blockId, hash },
      txs: events.txs.map((_, position) => utf8(`tx ${height}/${position}`)),
    },
    seenCommit: commit,
    results: {
      ...results,
      events: events.block,
      txResults: events.txs.map((emitted) => ({
        code: 0,
        codespace: "",
        log: "",
        data: new Uint8Array(),
        gasWanted: 0n,
        gasUsed: 0n,
        events: emitted,
      })),
    },
    validatorSets: [],
    changes: { height, appHash: new Uint8Array(), writes: [], deletes: [], roots: [] },
  };
}
