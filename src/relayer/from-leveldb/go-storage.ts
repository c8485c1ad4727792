import { fromUtf8, latin1 } from "../../platform/base/bytes.ts";
import { isRecord } from "../../platform/base/json.ts";

/** A remote transaction of a query. */
export interface GoTx {
  readonly queryId: bigint;
  /** Lower-case hex SHA-256 of the remote transaction. */
  readonly hash: string;
}

/** A transaction that the Go relayer could not deliver. */
interface UnsuccessfulGoTx extends GoTx {
  readonly message: string;
  /** Wall-clock time of the error, ms. */
  readonly atMs: number;
}

/** The storage of the Go relayer, as far as it says what need not be sent again. */
export interface GoStorage {
  /** By query id: remote height up to which everything was handled. KV queries have one too. */
  readonly progress: Map<bigint, bigint>;
  /** Transactions in a block of the local chain. */
  readonly committed: GoTx[];
  /** Transactions that were sent and whose block was not seen. */
  readonly submitted: GoTx[];
  readonly unsuccessful: UnsuccessfulGoTx[];
  /** By {@link goTxKey}: remote height of transactions that are not committed. */
  readonly heights: Map<string, bigint>;
  /** Entries that the Go relayer does not write, or whose value cannot be read. */
  unknown: number;
}

/** Identifies a transaction of a query. */
export function goTxKey({ queryId, hash }: GoTx): string {
  return `${queryId} ${hash}`;
}

/** Creates the content of an empty storage. */
export function emptyGoStorage(): GoStorage {
  return {
    progress: new Map(),
    committed: [],
    submitted: [],
    unsuccessful: [],
    heights: new Map(),
    unknown: 0,
  };
}

const MAX_UINT64 = 2n ** 64n - 1n;

/**
 * Adds an entry of the storage (v0.3.0, `internal/storage/leveldb.go`). Keys are ASCII:
 *
 * - `<query id>`: the progress, decimal;
 * - `<query id><hash>`: JSON with the status;
 * - `unsuccessful_txs<query id><hash>` and `cached_txs<query id><hash>`: JSON with the error and with the height;
 * - `submitted_txs<local hash>`: what the status says too.
 */
export function addGoEntry(storage: GoStorage, key: Uint8Array, value: Uint8Array): void {
  const name = latin1(key);
  const [, prefix = "", id = "", hash] =
    /^(|unsuccessful_txs|cached_txs)(\d{1,20}?)([0-9a-f]{64})?$/.exec(name) ?? [];
  const queryId = id === "" ? MAX_UINT64 + 1n : BigInt(id);
  const isRead =
    name.startsWith("submitted_txs") ||
    (queryId <= MAX_UINT64 &&
      (hash === undefined
        ? prefix === "" && addProgress(storage, queryId, value)
        : READERS[prefix]?.(storage, { queryId, hash }, parseRecord(value))));
  if (isRead !== true) storage.unknown += 1;
}

function addProgress({ progress }: GoStorage, queryId: bigint, value: Uint8Array): boolean {
  const text = latin1(value);
  if (!/^\d{1,19}$/.test(text)) return false;
  progress.set(queryId, BigInt(text));
  return true;
}

type Fields = Readonly<Record<string, unknown>>;

/** By prefix of the key. Each returns false for a value that it cannot read. */
const READERS: Readonly<Record<string, (storage: GoStorage, tx: GoTx, fields: Fields) => boolean>> = {
  "": ({ committed, submitted }, tx, { status }) => {
    if (status === "Committed") committed.push(tx);
    else if (status === "Submitted") submitted.push(tx);
    // The others have an entry with the reason.
    else return status === "ErrorOnSubmit" || status === "ErrorOnCommit";
    return true;
  },
  unsuccessful_txs: ({ unsuccessful }, tx, { message, error_time: time }) => {
    if (typeof message !== "string" || typeof time !== "string" || Number.isNaN(Date.parse(time)))
      return false;
    unsuccessful.push({ ...tx, message, atMs: Date.parse(time) });
    return true;
  },
  cached_txs: ({ heights }, tx, { height }) => {
    if (typeof height !== "number" || !Number.isSafeInteger(height)) return false;
    heights.set(goTxKey(tx), BigInt(height));
    return true;
  },
};

function parseRecord(value: Uint8Array): Fields {
  try {
    const parsed: unknown = JSON.parse(fromUtf8(value));
    return isRecord(parsed) ? parsed : {};
  } catch {
    return {};
  }
}
