import { existsSync } from "node:fs";
import { join } from "node:path";
import type { RelayerConfig } from "../config/relayer-config.ts";
import { STORE_FILE } from "../state/store.ts";

/** Whether a directory holds a LevelDB. */
export function isLevelDb(directory: string): boolean {
  return existsSync(join(directory, "CURRENT"));
}

/** Whether `state_dir` holds the storage of the Go relayer, and nothing of ours yet: this is the first start after it. */
export function isFirstAfterGo({ state_dir: stateDir }: RelayerConfig): boolean {
  return stateDir !== undefined && isLevelDb(stateDir) && !existsSync(join(stateDir, STORE_FILE));
}
