import { silentLogger } from "../../src/platform/base/logger.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { openStore, type RelayerStore, type StorePlace } from "../../src/relayer/state/store.ts";

/** Opens the relayer's store of the chain local-1 in a directory, in memory (undefined), or at another place. */
export function openTestStore(
  place: string | undefined | StorePlace,
  chainId = "local-1",
): Promise<RelayerStore> {
  const history = { max_age: Number.MAX_SAFE_INTEGER, max_attempts: 100_000 };
  const deps = { clock: systemClock, random: () => 0, logger: silentLogger };
  return openStore(toPlace(place), { chainId, history }, deps);
}

function toPlace(place: string | undefined | StorePlace): StorePlace {
  if (place === undefined) return { kind: "memory" };
  return typeof place === "string" ? { kind: "sqlite", stateDir: place } : place;
}
