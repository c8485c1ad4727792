import type { RelayerConfig } from "../config/relayer-config.ts";
import { loadOfState, type MarketViewDeps, remotePaces } from "../health/market-view.ts";
import type { ForecastQuery } from "./spending-forecast.ts";

/** Returns the registered queries, as the spending forecast needs them. */
export function createForecastQueries(
  config: Pick<RelayerConfig, "queries">,
  deps: Pick<MarketViewDeps, "registry" | "watches" | "gasOf"> & { readonly localHeight: () => bigint },
): () => readonly ForecastQuery[] {
  return () => {
    const blockMs = deps.watches.local.view().blockMs;
    const height = deps.localHeight();
    const remotes = remotePaces(deps);
    return deps.registry.states().map((state): ForecastQuery => {
      const { id, owner, type, registeredAtHeight, connectionId } = state.query;
      const load = loadOfState(state, config, {
        blockMs: blockMs ?? 1,
        remoteMs: remotes.get(connectionId) ?? 0,
        gas: deps.gasOf(id),
      });
      const isKnown = blockMs !== undefined;
      // A query of the genesis has no height: it was there from the beginning.
      const hasAge = registeredAtHeight > 0n && height > registeredAtHeight;
      return {
        id,
        owner,
        intervalMs: isKnown && type === "kv" ? Number(load.updatePeriod) * blockMs : undefined,
        ageMs: isKnown && hasAge ? Number(height - registeredAtHeight) * blockMs : undefined,
        gas: load.gas,
      };
    });
  };
}
