import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { ClassicLevel } from "classic-level";
import { errorText } from "../../platform/base/errors.ts";
import { RelayError } from "../relay-error.ts";
import { isLevelDb } from "./first-start.ts";
import { addGoEntry, emptyGoStorage, type GoStorage } from "./go-storage.ts";

/** Files that hold the content of a LevelDB. */
const CONTENT = /^(?:CURRENT|MANIFEST-\d+|\d+\.(?:log|ldb|sst))$/;
const LOCK_FILE = "LOCK";

/**
 * Reads the storage of the Go relayer. The directory stays as it is: LevelDB writes when it is opened, so a copy is opened,
 * which is in a new directory below `scratch` for that time. Throws `RelayError` "storage-unreadable" when a process has the
 * storage open, and when it is no LevelDB or is damaged.
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

/** The process that has the storage open. Undefined when there is none, and on systems other than Linux. */
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

/** Finds in `/proc/locks` the process that has locked a file with flock(2), as the Go relayer does. */
export function flockHolder(locks: string, inode: bigint): number | undefined {
  const row = locks.split("\n").find((line) => line.includes(" FLOCK ") && line.includes(`:${inode} `));
  return row === undefined ? undefined : Number(row.trim().split(/\s+/)[4]);
}

/** The library's error says only that the database is not open; its cause says why. */
function causeText(error: unknown): string {
  return error instanceof Error && error.cause !== undefined ? errorText(error.cause) : errorText(error);
}

function unreadable(directory: string, text: string): RelayError {
  return new RelayError(
    { code: "storage-unreadable", directory },
    `the storage of the Go relayer in ${directory} cannot be read: ${text}`,
  );
}
