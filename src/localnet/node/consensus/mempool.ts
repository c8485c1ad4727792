import { sha256, toHex } from "../../../platform/base/bytes.ts";
import type { TxResult } from "../../chain/runtime/abci.ts";
import { MempoolError } from "../base/errors.ts";
import type { BroadcastResult } from "../base/node-view.ts";

/** A mempool's limits on transactions and bytes. `cacheSize` limits the hashes of recent transactions. */
export interface MempoolOptions {
  readonly maxTxs: number;
  readonly maxBytes: number;
  readonly maxTxBytes: number;
  readonly cacheSize: number;
}

/** CometBFT's defaults, except for the maximum total size, which is 64 MiB instead of 1 GiB so that a node can run on a laptop. */
export const DEFAULT_MEMPOOL: MempoolOptions = {
  maxTxs: 5_000,
  maxBytes: 67_108_864,
  maxTxBytes: 1_048_576,
  cacheSize: 10_000,
};

/** Holds pending transactions in order of arrival until a block includes them. */
export type Mempool = ReturnType<typeof createMempool>;

/** Upper bound for the protobuf overhead per transaction in `Data`: 1 byte for the tag and up to 5 bytes for the length. */
const TX_OVERHEAD = 6n;

export function createMempool(
  options: MempoolOptions,
  checkTx: (tx: Uint8Array, recheck: boolean) => TxResult,
) {
  const pool = new Map<string, { readonly tx: Uint8Array; readonly gas: bigint }>();
  const cache = createTxCache(options.cacheSize);
  let bytes = 0;
  let failed = 0;
  let rechecked = 0;
  const drop = (name: string): void => {
    bytes -= pool.get(name)?.tx.length ?? 0;
    pool.delete(name);
  };
  const runCheck = (name: string, tx: Uint8Array): TxResult => {
    try {
      return checkTx(tx, false);
    } catch (error) {
      // CheckTx returned no result. Remove the hash from the cache, so that clients can send the transaction again.
      cache.remove(name);
      throw error;
    }
  };
  const add = (tx: Uint8Array): BroadcastResult => {
    checkBounds(options, pool.size, bytes, tx.length);
    const hash = sha256(tx);
    const name = toHex(hash);
    if (!cache.add(name)) throw new MempoolError({ code: "tx-in-cache" }, "tx already exists in cache");
    const check = runCheck(name, tx);
    if (check.code === 0) {
      pool.set(name, { tx, gas: check.gasWanted });
      bytes += tx.length;
    } else {
      // Let clients send the transaction again, because CheckTx may accept it later, for example after the account has received coins.
      cache.remove(name);
      failed += 1;
    }
    return { hash, check };
  };
  /**
   * Checks the pending transactions again, because a block may have invalidated some of them, e.g. by their sequence. Rechecks run in order
   * of arrival, because the check state includes the effects of earlier transactions.
   */
  const recheck = (): void => {
    for (const [name, { tx }] of pool) {
      rechecked += 1;
      if (checkTx(tx, true).code === 0) continue;
      drop(name);
      cache.remove(name);
    }
  };
  const update = (txs: readonly Uint8Array[], results: readonly TxResult[]): void => {
    txs.forEach((tx, index) => {
      const name = toHex(sha256(tx));
      drop(name);
      // Keep a committed transaction in the cache to reject late copies. A transaction that failed in the block may be sent again.
      if (results[index]?.code === 0) cache.add(name);
      else cache.remove(name);
    });
    recheck();
  };
  return {
    /**
     * Runs CheckTx, and stores the transaction if the code is 0. If the transaction is in the cache or exceeds a limit, throws
     * {@link MempoolError} without running CheckTx. A transaction that failed its check may be added again.
     */
    add,
    /**
     * Removes a committed block's transactions and rechecks all remaining transactions. `results` and `txs` are in the same order.
     */
    update,
    /** Removes all transactions and clears the cache. */
    clear: () => {
      pool.clear();
      bytes = 0;
      cache.clear();
    },
    /**
     * Returns as many pending transactions, in order, as fit within both limits, without removing them. If `maxGas` is -1, gas is
     * not limited.
     */
    reap: (maxBytes: bigint, maxGas: bigint): readonly Uint8Array[] =>
      reap([...pool.values()], maxBytes, maxGas),
    txs: (): readonly Uint8Array[] => [...pool.values()].map(({ tx }) => tx),
    count: (): number => pool.size,
    bytes: (): number => bytes,
    /** Returns how many times since startup a transaction failed its first CheckTx. */
    failed: (): number => failed,
    /** Returns the number of rechecks since startup, both passed and failed. */
    rechecked: (): number => rechecked,
  };
}

/**
 * Returns the transactions before the first transaction that would exceed a limit. Later transactions are not considered, because
 * they may depend on this transaction's sequence.
 */
function reap(
  pending: readonly { readonly tx: Uint8Array; readonly gas: bigint }[],
  maxBytes: bigint,
  maxGas: bigint,
): readonly Uint8Array[] {
  const taken: Uint8Array[] = [];
  let bytes = 0n;
  let gas = 0n;
  for (const one of pending) {
    bytes += BigInt(one.tx.length) + TX_OVERHEAD;
    gas += one.gas;
    if (bytes > maxBytes || (maxGas >= 0n && gas > maxGas)) break;
    taken.push(one.tx);
  }
  return taken;
}

/** Throws {@link MempoolError} with CometBFT's message if the transaction is too large or the mempool is full. */
function checkBounds(options: MempoolOptions, txs: number, bytes: number, length: number): void {
  if (length > options.maxTxBytes) {
    throw new MempoolError(
      { code: "tx-too-large", bytes: length, maxBytes: options.maxTxBytes },
      `Tx too large. Max size is ${options.maxTxBytes}, but got ${length}`,
    );
  }
  if (txs >= options.maxTxs || bytes + length > options.maxBytes) {
    throw new MempoolError(
      { code: "mempool-full", txs, bytes },
      `mempool is full: number of txs ${txs} (max: ${options.maxTxs}), total txs bytes ${bytes} (max: ${options.maxBytes})`,
    );
  }
}

/** Creates a cache of recent transactions' hashes, used to reject duplicates without running CheckTx. */
function createTxCache(capacity: number) {
  // A set iterates in insertion order, so its first element is the oldest. Adding a hash again moves it to the end.
  const hashes = new Set<string>();
  return {
    /** Adds a hash as the newest entry. Returns false if the cache already contains the hash. */
    add: (hash: string): boolean => {
      const isNew = !hashes.delete(hash);
      hashes.add(hash);
      if (hashes.size > capacity) {
        for (const oldest of hashes) {
          hashes.delete(oldest);
          break;
        }
      }
      return isNew;
    },
    remove: (hash: string) => void hashes.delete(hash),
    clear: (): void => hashes.clear(),
  };
}
