import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { ClassicLevel } from "classic-level";
import { fromUtf8, latin1 } from "../../platform/base/bytes.ts";
import { errorText } from "../../platform/base/errors.ts";
import { isRecord } from "../../platform/base/json.ts";
import { RelayError } from "../chain/relay-error.ts";
import { isLevelDb } from "./first-start.ts";

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

/** The part of the Go relayer's storage that prevents duplicate deliveries. */
export interface GoStorage {
  /** By query id: the remote height up to which the Go relayer has handled everything. KV queries have an entry too. */
  readonly progress: Map<bigint, bigint>;
  /** Transactions that a local block includes. */
  readonly committed: GoTx[];
  /** Transactions that were broadcast but not confirmed. */
  readonly submitted: GoTx[];
  readonly unsuccessful: UnsuccessfulGoTx[];
  /** The remote height of each uncommitted transaction, by {@link goTxKey}. */
  readonly heights: Map<string, bigint>;
  /** Number of entries with an unknown key or an unreadable value. */
  unknown: number;
}

export function goTxKey({ queryId, hash }: GoTx): string {
  return `${queryId} ${hash}`;
}

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
 * Adds a storage entry (v0.3.0, `internal/storage/leveldb.go`). Keys are ASCII:
 *
 * | key | value |
 * |---|---|
 * | `<query id>` | decimal: the progress |
 * | `<query id><hash>` | JSON: the status |
 * | `unsuccessful_txs<query id><hash>` | JSON: the error |
 * | `cached_txs<query id><hash>` | JSON: the height |
 * | `submitted_txs<local hash>` | a copy of the status |
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

/** Readers by key prefix. A reader returns false for a value that it cannot read. */
const READERS: Readonly<Record<string, (storage: GoStorage, tx: GoTx, fields: Fields) => boolean>> = {
  "": ({ committed, submitted }, tx, { status }) => {
    if (status === "Committed") committed.push(tx);
    else if (status === "Submitted") submitted.push(tx);
    // A failed transaction also has an `unsuccessful_txs` entry with the reason.
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

/** Names of the files in a LevelDB directory. */
const CONTENT = /^(?:CURRENT|MANIFEST-\d+|\d+\.(?:log|ldb|sst))$/;
const LOCK_FILE = "LOCK";

/**
 * Reads the Go relayer's storage without changing it. Opening a LevelDB writes to its directory, so this function opens a temporary
 * copy below `scratch`.
 *
 * Throws `RelayError` "storage-unreadable" if a process uses the storage, or if the directory is damaged or not a LevelDB.
 */
export async function readGoStorage(directory: string, scratch: string): Promise<GoStorage> {
  if (!isLevelDb(directory))
    throw unreadable(directory, "it has no LevelDB: give the directory of RELAYER_STORAGE_PATH");
  const pid = holderOf(directory);
  if (pid !== undefined) throw unreadable(directory, `process ${pid} uses it: stop the Go relayer first`);
  const copy = mkdtempSync(join(scratch, "go-storage-"));
  try {
    for (const name of readdirSync(directory).filter((file) => CONTENT.test(file)))
      copyFileSync(join(directory, name), join(copy, name));
    return await readCopy(copy);
  } catch (cause) {
    throw unreadable(directory, `${causeText(cause)}; copy it again from the Go relayer after a clean stop`);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

async function readCopy(copy: string): Promise<GoStorage> {
  const bytes = { keyEncoding: "view", valueEncoding: "view" } as const;
  const database = new ClassicLevel<Uint8Array, Uint8Array>(copy, {
    ...bytes,
    createIfMissing: false,
    multithreading: false,
  });
  const storage = emptyGoStorage();
  try {
    await database.open();
    for await (const [key, value] of database.iterator(bytes)) addGoEntry(storage, key, value);
  } finally {
    await database.close();
  }
  return storage;
}

/** Returns the id of the process that uses the storage; undefined if there is none, or on systems other than Linux. */
function holderOf(directory: string): number | undefined {
  try {
    return flockHolder(
      readFileSync("/proc/locks", "utf8"),
      statSync(join(directory, LOCK_FILE), { bigint: true }).ino,
    );
  } catch {
    return undefined;
  }
}

/** Finds the process in `/proc/locks` that has locked a file with flock(2), as the Go relayer does. */
export function flockHolder(locks: string, inode: bigint): number | undefined {
  const row = locks.split("\n").find((line) => line.includes(" FLOCK ") && line.includes(`:${inode} `));
  return row === undefined ? undefined : Number(row.trim().split(/\s+/)[4]);
}

/** The library's error only says that the database is not open. Its cause contains the reason. */
function causeText(error: unknown): string {
  return error instanceof Error && error.cause !== undefined ? errorText(error.cause) : errorText(error);
}

function unreadable(directory: string, text: string): RelayError {
  return new RelayError(
    { code: "storage-unreadable", directory },
    `the storage of the Go relayer in ${directory} cannot be read: ${text}`,
  );
}
