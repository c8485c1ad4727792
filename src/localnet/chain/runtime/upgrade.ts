import type { Context, ChainModule } from "./context.ts";
import { concat, uint64BigEndian, utf8 } from "../../../platform/base/bytes.ts";
import { CodedError } from "../../../platform/base/errors.ts";
import type { StateStorage } from "../store/multi-store.ts";
import { BLOCK_RECORD_STORE } from "./execute-block.ts";

/** A change to this program that adds modules to chains with a saved state. */
export interface Upgrade {
  /** Unique name, which is stored in the state with the upgrade's height and must never change. */
  readonly name: string;
  /** Names of the modules that the upgrade adds. */
  readonly adds: readonly string[];
}

/** Thrown if the saved state's stores differ from the program's stores and no upgrade explains the difference. */
class StoreSetError extends CodedError<
  | { readonly code: "missing-module"; readonly stores: readonly string[] }
  | { readonly code: "missing-upgrade"; readonly modules: readonly string[] }
> {}

/** An upgrade that will run in the next block. */
export interface PendingUpgrade {
  readonly name: string;
  /** The modules that the upgrade adds, in genesis order. */
  readonly modules: readonly ChainModule[];
}

/**
 * Compares the saved state's stores with the program's modules. Returns the upgrades that the next block must run, in declaration
 * order, or none if the storage is empty. Throws {@link StoreSetError}.
 */
export function planUpgrades(
  storage: StateStorage | undefined,
  modules: readonly ChainModule[],
  upgrades: readonly Upgrade[],
): readonly PendingUpgrade[] {
  const latest = storage?.latestHeight();
  if (storage === undefined || latest === undefined) return [];
  const saved = new Set(storage.roots(latest).map(({ store }) => store));
  requireModules([...saved], modules);
  const added = modules.filter(({ stores }) => stores.some((store) => !saved.has(store)));
  const isPlanned = ({ name, stores }: ChainModule): boolean =>
    upgrades.some(({ adds }) => adds.includes(name)) && stores.every((store) => !saved.has(store));
  const unplanned = added.filter((module) => !isPlanned(module)).map(({ name }) => name);
  if (unplanned.length > 0) {
    throw new StoreSetError(
      { code: "missing-upgrade", modules: unplanned },
      `the saved state has no stores of the module ${unplanned.join(", ")}, and no upgrade of this program adds them; start the program that wrote the state, or start with an empty home`,
    );
  }
  return upgrades
    .map(({ name, adds }) => ({ name, modules: added.filter((module) => adds.includes(module.name)) }))
    .filter((pending) => pending.modules.length > 0);
}

function requireModules(saved: readonly string[], modules: readonly ChainModule[]): void {
  const owned = new Set(modules.flatMap(({ stores }) => stores));
  const missing = saved.filter((store) => !owned.has(store)).toSorted();
  if (missing.length === 0) return;
  throw new StoreSetError(
    { code: "missing-module", stores: missing },
    `the saved state has the store ${missing.join(", ")}, which no module of this program owns; start the program that wrote the state, or start with an empty home`,
  );
}

/**
 * Initializes the added modules from their default genesis and writes each upgrade's name and height into the state. Like the
 * SDK's upgrade module, runs in the block's context, before the block's hooks.
 */
export function runUpgrades(pending: readonly PendingUpgrade[], context: Context): void {
  for (const { name, modules } of pending) {
    for (const module of modules) module.initGenesis(context, undefined);
    const key = concat(UPGRADE_PREFIX, utf8(name));
    context.store(BLOCK_RECORD_STORE).set(key, uint64BigEndian(context.height));
  }
}

/** Prefix of the keys `Upgrade/<name>`, under which an upgrade's height is stored as 8 bytes big-endian. */
const UPGRADE_PREFIX = utf8("Upgrade/");
