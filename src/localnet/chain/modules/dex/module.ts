import { createHandlers, estimates, simulations } from "./handlers.ts";
import { GO_ZERO_TIME_NS } from "../../../../platform/base/time.ts";
import type { Context } from "../../runtime/context.ts";
import type { ChainModule } from "../../runtime/module.ts";
import { purgeHitGasLimit, tickCount, tradePairText, trancheUpdated } from "./events.ts";
import { exportGenesis, initGenesis } from "./genesis.ts";
import { MODULE_NAME } from "./keys.ts";
import { moduleParams } from "./params.ts";
import { createQueries } from "./queries.ts";
import * as store from "./store.ts";
import { isPast } from "./tranche.ts";
import type { DexBank, DexOptions, Expiration } from "./types.ts";
import type { DexBalances } from "./user-deposits.ts";

/** Dependencies of the module. */
export interface DexDeps {
  readonly bank: DexBank;
  readonly balances: DexBalances;
}

/** Creates the `dex` module: pools, limit orders and swaps. */
export function createDexModule(options: DexOptions, deps: DexDeps): ChainModule {
  const keepers = { ...options, ...deps };
  const { chainName, bech32Prefix } = options;
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: createHandlers(keepers),
    queries: createQueries(keepers, { ...simulations(keepers), ...estimates(keepers) }),
    beginBlock: (context) => purgeExpired(context, chainName),
    endBlock: (context) => purgeJitOrders(context, chainName),
    initGenesis: (context, genesis) => initGenesis(context, genesis, bech32Prefix),
    exportGenesis: (context) => exportGenesis(context, deps.balances),
  };
}

/**
 * Start of a block: removes expired orders from the book, even while the module is paused. Stops once the gas allowance is used
 * up. Orders that expire in the same second are in key order, so an order that has not expired yet can hide one that has.
 */
function purgeExpired(context: Context, chainName: string): void {
  const walk = store.expirations(context);
  // The allowance pays for reading the parameters, and not for opening the walk.
  let at = walk.next();
  const opened = context.gas.used();
  const cutoff = opened + moduleParams.get(context).goodTilPurgeAllowance;
  for (; at.done !== true; at = walk.next()) {
    const expiration = at.value;
    const isJitOrder = expiration.timeNs === GO_ZERO_TIME_NS;
    if (!isJitOrder && !isPast(context, expiration.timeNs)) return;
    if (!isJitOrder && context.gas.used() >= cutoff) {
      context.emit(purgeHitGasLimit(context.gas.used()));
      return;
    }
    purge(context, chainName, expiration);
  }
}

/**
 * End of a block: removes JIT orders from the book in the block in which they were placed (dex.md, "States and transitions"). The
 * deployed chain removes them at the start of the next block.
 */
function purgeJitOrders(context: Context, chainName: string): void {
  store.clearJitsInBlock(context);
  if (context.profile.deployed("dexJitEnd")) return;
  for (const expiration of store.expirations(context)) {
    if (expiration.timeNs !== GO_ZERO_TIME_NS) break;
    purge(context, chainName, expiration);
  }
}

/** Moves a tranche off the book. Its funds stay in the inactive tranche until the owners withdraw or cancel. */
function purge(context: Context, chainName: string, expiration: Expiration): void {
  const tranche = store.getActiveTrancheByRef(context, expiration.trancheRef);
  if (tranche !== undefined) {
    store.setInactiveTranche(context, tranche);
    store.deleteActiveTranche(context, tranche.key);
    context.emit(trancheUpdated({ ...tranche, reservesMaker: 0n }));
  }
  store.deleteExpiration(context, expiration);
  const pair = tranche === undefined ? "" : tradePairText(tranche.key.tradePairId);
  context.emit(tickCount(chainName, { action: "dec", kind: "limit_order", isExpiring: true, pair }));
}
