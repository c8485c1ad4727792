import { unreachable } from "../../platform/base/errors.ts";
import { MODULE_NAME as AUTHORITY_NAME } from "./modules/adminmodule/module.ts";
import type { ModulePermissions } from "./modules/auth/keeper.ts";
import { ESCROW_NAME } from "./modules/feemarket/module.ts";
import { MODULE_NAME as GOV_NAME } from "./modules/gov/keys.ts";
import { BONDED_POOL, NOT_BONDED_POOL } from "./modules/staking/types.ts";
import type { ChainModule } from "./runtime/context.ts";
import type { Upgrade } from "./runtime/upgrade.ts";

const POOLS: ModulePermissions = {
  [BONDED_POOL]: ["burner", "staking"],
  [NOT_BONDED_POOL]: ["burner", "staking"],
};

/** The deployed chain's module accounts, including accounts for modules that this chain lacks. */
export const LOCAL_MODULE_ACCOUNTS: ModulePermissions = {
  ...POOLS,
  ...Object.fromEntries(
    `${ESCROW_NAME} auction cron fee_collector feeburner feerefunder harpoon interchainaccounts interchainqueries marketmap oracle revenue-staking-rewards revenue-treasury`
      .split(" ")
      .map((name) => [name, []]),
  ),
  dex: ["minter", "burner"],
  "revenue-fee-redistribute": ["burner"],
  tokenfactory: ["minter", "burner"],
  transfer: ["minter", "burner"],
  wasm: ["burner"],
};

export const REMOTE_MODULE_ACCOUNTS: ModulePermissions = {
  ...POOLS,
  [ESCROW_NAME]: [],
  fee_collector: [],
  transfer: ["minter", "burner"],
  [GOV_NAME]: ["burner"],
};

/**
 * Module accounts that genesis creates on a local chain, as on the deployed chain. Module accounts that are not in this list are
 * created on first use.
 */
export const GENESIS_ACCOUNTS = ["fee_collector", BONDED_POOL, NOT_BONDED_POOL];

/**
 * A local chain's modules in genesis order. `wasm` follows the modules whose messages contracts send at genesis. `harpoon`
 * follows `wasm`, because its subscriptions refer to contracts. `staking` follows `harpoon`, because staking's genesis calls the
 * subscribed contracts. `tokenfactory` follows `ibc` because its genesis records the channels' escrow accounts.
 */
const LOCAL_ORDER =
  "consensus auth vesting bank feemarket ibc transfer dex adminmodule interchainqueries wasm contractmanager feerefunder feeburner globalfee dynamicfees interchaintxs interchainaccounts upgrade rate-limited-ibc harpoon staking slashing oracle revenue tokenfactory genutil cron".split(
    " ",
  );

export function inGenesisOrder(modules: readonly ChainModule[]): readonly ChainModule[] {
  return modules.toSorted((a, b) => rank(a) - rank(b));
}

function rank({ name }: ChainModule): number {
  const at = LOCAL_ORDER.indexOf(name);
  return at < 0 ? unreachable(`the module ${name} has no place in the order of genesis`) : at;
}

/**
 * Modules whose begin hooks run first, in this order (`app/app.go` of v10.0.0, `SetOrderPreBlockers` and `SetOrderBeginBlockers`).
 * Slashing jails validators before staking records the block's validator set. A contract's schedule (`cron`) runs after both, and
 * before the dex removes expired orders.
 */
export const BEGIN_BLOCK_ORDER = ["upgrade", "slashing", "ibc", "staking", "cron", "dex"];

/**
 * Modules whose end hooks run first, in this order (`app/app.go` of v10.0.0, `SetOrderEndBlockers`). The dex must follow `cron`: it removes the
 * just-in-time orders of the block, and a contract's schedule may place some.
 */
export const END_BLOCK_ORDER = [GOV_NAME, "staking", "interchainqueries", "cron", "feemarket", "dex"];

/**
 * Upgrades, in release order. A module that is newer than a home directory's saved state is added in the next block.
 * Modules that existed in the first release need no upgrade.
 */
export const UPGRADES: readonly Upgrade[] = [
  { name: "dex", adds: ["dex"] },
  { name: "staking", adds: ["staking", "slashing", "harpoon"] },
  { name: "adminmodule", adds: [AUTHORITY_NAME] },
  { name: "transfer", adds: ["transfer", "rate-limited-ibc"] },
  { name: "contractmanager", adds: ["contractmanager"] },
  { name: "tokenfactory", adds: ["tokenfactory", "cron"] },
  { name: "gov", adds: [GOV_NAME] },
  { name: "feerefunder", adds: ["feerefunder"] },
  {
    name: "params",
    adds: ["feeburner", "globalfee", "dynamicfees", "interchaintxs", "interchainaccounts", "upgrade"],
  },
  { name: "oracle", adds: ["oracle", "revenue"] },
];
