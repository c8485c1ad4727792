import { toHex } from "../../base/bytes.ts";
import { sha256 } from "../../base/sha256.ts";
import type { TxResult } from "../../chain/abci.ts";
import { MempoolError } from "../errors.ts";
import type { BroadcastResult } from "../node-view.ts";
import { createTxCache } from "./tx-cache.ts";

/** Bounds of a mempool. */
export interface MempoolOptions {
  readonly maxTxs: number;
  readonly maxBytes: number;
  readonly maxTxBytes: number;
  readonly cacheSize: number;
}

/** CometBFT's defaults, with a byte bound that fits a laptop. */
export const DEFAULT_MEMPOOL: MempoolOptions = {
  maxTxs: 5_000,
  maxBytes: 67_108_864,
  maxTxBytes: 1_048_576,
  cacheSize: 10_000,
};

/** Transactions that wait for a block, first come first served. */
export interface Mempool {
  /** Checks and keeps a transaction. Throws {@link MempoolError}. A transaction that fails its check may come again. */
  readonly add: (tx: Uint8Array) => BroadcastResult;
  /** What fits into a block: the longest head of the queue within both bounds; maxGas -1: without bound. */
  readonly reap: (maxBytes: bigint, maxGas: bigint) => readonly Uint8Array[];
  /** Takes out what a block held and checks the rest again. */
  readonly update: (txs: readonly Uint8Array[], results: readonly TxResult[]) => void;
  readonly txs: () => readonly Uint8Array[];
  readonly count: () => number;
  readonly bytes: () => number;
  /** Transactions that failed their first check, and re-checks made, since the start. */
  readonly failed: () => number;
  readonly rechecked: () => number;
}

/** Protobuf overhead of one transaction inside a block's data: tag and length. */
const TX_OVERHEAD = 6n;

/** Creates an empty mempool over the application's CheckTx. */
export function createMempool(
  options: MempoolOptions,
  checkTx: (tx: Uint8Array, recheck: boolean) => TxResult,
): Mempool {
  const pool = new Map<string, { readonly tx: Uint8Array; readonly gas: bigint }>();
  const cache = createTxCache(options.cacheSize);
  let bytes = 0;
  let failed = 0;
  let rechecked = 0;
  const drop = (name: string): void => {
    bytes -= pool.get(name)?.tx.length ?? 0;
    pool.delete(name);
  };
  const add = (tx: Uint8Array): BroadcastResult => {
    refuseMisfit(options, pool.size, bytes, tx.length);
    const hash = sha256(tx);
    const name = toHex(hash);
    if (!cache.add(name)) throw new MempoolError({ code: "tx-in-cache" }, "tx already exists in cache");
    const check = checkTx(tx, false);
    if (check.code === 0) {
      pool.set(name, { tx, gas: check.gasWanted });
      bytes += tx.length;
    } else {
      cache.remove(name);
      failed += 1;
    }
    return { hash, check };
  };
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
      if (results[index]?.code === 0) cache.add(name);
      else cache.remove(name);
    });
    recheck();
  };
  return {
    add,
    update,
    reap: (maxBytes, maxGas) => reap([...pool.values()], maxBytes, maxGas),
    txs: () => [...pool.values()].map(({ tx }) => tx),
    count: () => pool.size,
    bytes: () => bytes,
    failed: () => failed,
    rechecked: () => rechecked,
  };
}

function reap(
  waiting: readonly { readonly tx: Uint8Array; readonly gas: bigint }[],
  maxBytes: bigint,
  maxGas: bigint,
): readonly Uint8Array[] {
  const taken: Uint8Array[] = [];
  let bytes = 0n;
  let gas = 0n;
  for (const one of waiting) {
    bytes += BigInt(one.tx.length) + TX_OVERHEAD;
    gas += one.gas;
    if (bytes > maxBytes || (maxGas >= 0n && gas > maxGas)) break;
    taken.push(one.tx);
  }
  return taken;
}

function refuseMisfit(options: MempoolOptions, txs: number, bytes: number, length: number): void {
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
