import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { withDeadline } from "../../platform/base/abort.ts";
import { PRIVATE_DIRECTORY_MODE } from "../../platform/process/private-file.ts";
import type { RelayerConfig } from "../config.ts";
import { RelayError } from "../relay-error.ts";
import { placeOf } from "../state/store-config.ts";
import { attemptLimitsOf, openStore, type StoreDeps } from "../state/store.ts";
import { type ImportedQuery, importGoStorage } from "./import-go-storage.ts";
import { readGoStorage } from "./read-go-storage.ts";

/** What an import did. */
export interface GoImport {
  readonly queries: readonly ImportedQuery[];
  /** Entries of the storage that could not be read. */
  readonly unknown: number;
}

const FLUSH_MS = 120_000;

/**
 * Takes over the storage of the Go relayer in `directory` into the configured store, durable when it resolves. Throws
 * `RelayError` "storage-unreadable", "state-in-use" and "state-unusable".
 */
export async function importLevelDb(
  directory: string,
  config: RelayerConfig,
  deps: StoreDeps,
  signal: AbortSignal,
): Promise<GoImport> {
  const place = placeOf(config);
  if (place.kind === "memory")
    throw new RelayError(
      { code: "state-unusable", stateDir: "" },
      "the configuration keeps no state: set state_dir or store",
    );
  const scratch = place.kind === "sqlite" ? place.stateDir : tmpdir();
  mkdirSync(scratch, { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
  // The store is created after the storage was read: an import that failed must not look like one that is done.
  const storage = await readGoStorage(directory, scratch);
  const options = { chainId: config.chain.id, limits: attemptLimitsOf(config.history) };
  const store = await openStore(place, options, deps);
  try {
    const queries = importGoStorage(storage, store.journal);
    await withDeadline("the import", FLUSH_MS, signal, store.queue.flushed);
    return { queries, unknown: storage.unknown };
  } finally {
    await store.close();
  }
}
