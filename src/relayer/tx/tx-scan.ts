import type { comet38 } from "@cosmjs/tendermint-rpc";
import { raceAbort } from "../../platform/base/abort.ts";
import { toHex, sha256 } from "../../platform/base/bytes.ts";
import type { ChainClient } from "../../cosmos/client/chain-client.ts";
import { simpleProofs } from "../../cosmos/merkle/simple-tree.ts";
import { matches } from "./tx-filter.ts";
import type { FoundTx } from "./tx-proof.ts";
import { type FoundTxs, MAX_TXS_PER_SEARCH, type TxSearch } from "./tx-search.ts";

/** Blocks of one scan. Each costs a call, or two when a transaction matches. The next cycle continues where it ended. */
export const MAX_BLOCKS_PER_SCAN = 200n;
/** Blocks that are read at once. */
const BLOCKS_AT_ONCE = 8n;

type BlockReader = Pick<ChainClient["comet"], "block" | "blockResults">;

/**
 * Finds the same transactions as `findTxs`, without the transaction index of the node: from the events in the results of
 * every block. The inclusion proofs are computed from the blocks, and the caller verifies them against the header.
 */
export async function scanTxs(comet: BlockReader, search: TxSearch, signal: AbortSignal): Promise<FoundTxs> {
  const { from, to } = search.range;
  const last = from + MAX_BLOCKS_PER_SCAN - 1n < to ? from + MAX_BLOCKS_PER_SCAN - 1n : to;
  const found: FoundTx[] = [];
  for (let height = from; height <= last; height += BLOCKS_AT_ONCE) {
    const end = height + BLOCKS_AT_ONCE - 1n < last ? height + BLOCKS_AT_ONCE - 1n : last;
    const blocks = await Promise.all(
      heightsOf(height, end).map((at) => scanBlock(comet, Number(at), search, signal)),
    );
    found.push(...blocks.flat());
    if (found.length >= MAX_TXS_PER_SEARCH) return { found, upTo: end };
  }
  return { found, upTo: last };
}

function heightsOf(from: bigint, to: bigint): readonly bigint[] {
  return Array.from({ length: Number(to - from) + 1 }, (_, index) => from + BigInt(index));
}

async function scanBlock(
  comet: BlockReader,
  height: number,
  search: TxSearch,
  signal: AbortSignal,
): Promise<readonly FoundTx[]> {
  const { results } = await raceAbort(comet.blockResults(height), signal);
  // The hash is not known yet. A condition on it is compared below.
  const conditions = search.conditions.filter(({ field }) => field !== "tx.hash");
  const isCandidate = ({ code, events }: comet38.TxData): boolean =>
    code === 0 && matches(conditions, { height: BigInt(height), hash: "", events });
  if (!results.some(isCandidate)) return [];
  const { block } = await raceAbort(comet.block(height), signal);
  const hashes = block.txs.map((tx) => sha256(tx));
  const { root, proofs } = simpleProofs(hashes);
  return results.flatMap((result, index) => {
    const [tx, hash, proof] = [block.txs[index], hashes[index], proofs[index]];
    if (!isCandidate(result) || tx === undefined || hash === undefined || proof === undefined) return [];
    const { leafHash, aunts } = proof;
    const inclusion = { total: Number(proof.total), index, leafHash, aunts };
    const one: FoundTx = {
      tx: new Uint8Array(tx),
      hash: new Uint8Array(hash),
      height,
      index,
      result,
      proof: { data: tx, rootHash: root, proof: inclusion },
    };
    return isWantedHash(one, search) ? [one] : [];
  });
}

function isWantedHash(tx: FoundTx, { conditions, isHandled }: TxSearch): boolean {
  const hash = toHex(tx.hash);
  const view = { height: BigInt(tx.height), hash: hash.toUpperCase(), events: tx.result.events };
  return matches(conditions, view) && !isHandled(hash);
}
