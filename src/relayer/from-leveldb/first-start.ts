import { existsSync } from "node:fs";
import { join } from "node:path";
import type { RelayerConfig } from "../config/relayer-config.ts";
import { STORE_FILE } from "../state/store.ts";

export function isLevelDb(directory: string): boolean {
  return existsSync(join(directory, "CURRENT"));
}

/**
 * Returns true on the first start after a switch from the Go relayer: `state_dir` contains the Go relayer's storage but no store of
 * this relayer. This check is not in `import-leveldb.ts`, because that file loads a native library.
 */
export function isFirstAfterGo({ state_dir: stateDir }: RelayerConfig): boolean {
  return stateDir !== undefined && isLevelDb(stateDir) && !existsSync(join(stateDir, STORE_FILE));
}
