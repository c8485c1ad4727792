import { isRecord, type JsonObject, type JsonValue } from "../../platform/base/json.ts";
import type { CreateModules } from "../chain/module-set.ts";
import type { ProfileName } from "../chain/deviations/deviations.ts";
import type { StateStorage } from "../chain/store/multi-store.ts";

/** A set of modules that some chains have. */
export interface ModuleSet {
  /** Names of the modules in a genesis, which are also their store names. */
  readonly names: readonly string[];
  readonly create: CreateModules;
}

/** The parts of a genesis document that determine which modules its chain has. */
export interface ChoosingGenesis {
  readonly profile?: ProfileName | undefined;
  readonly appState: JsonObject;
}

/**
 * Returns the set's modules if the local chain has them: if its genesis names one of them, has the deployed profile or includes
 * its own contracts, or if the saved state contains one.
 */
export function chooseModules(
  set: ModuleSet | undefined,
  { profile, appState }: ChoosingGenesis,
  storage?: StateStorage,
): CreateModules | undefined {
  if (set === undefined) return undefined;
  const isNamed = set.names.some((name) => Object.hasOwn(appState, name));
  const isChosen =
    isNamed || profile === "deployed" || hasOwnContracts(appState["wasm"] ?? null) || isSaved(set, storage);
  return isChosen ? set.create : undefined;
}

function isSaved({ names }: ModuleSet, storage: StateStorage | undefined): boolean {
  const height = storage?.latestHeight();
  if (storage === undefined || height === undefined) return false;
  return storage.roots(height).some(({ store }) => names.includes(store));
}

/** A localnet's built-in contracts are written in TypeScript, so their codes have no bytes. */
function hasOwnContracts(wasm: JsonValue): boolean {
  const has = (list: string, member: string): boolean => {
    const entries = isRecord(wasm) ? wasm[list] : undefined;
    return Array.isArray(entries) && entries.some((entry) => isRecord(entry) && Object.hasOwn(entry, member));
  };
  return has("codes", "code_bytes") || has("gen_msgs", "store_code");
}
