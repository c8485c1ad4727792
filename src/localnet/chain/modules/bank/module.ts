import { GenesisState } from "../../../../cosmos/proto/gen/cosmos/bank/v1beta1/genesis.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import {
  areValidCoins,
  type Coin,
  formatCoins,
  parseCoins,
  sumCoins,
  toWireCoin,
} from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import {
  atPath,
  GenesisError,
  type GenesisSchema,
  partOr,
  printGenesis,
  readGenesis,
} from "../../runtime/genesis.ts";
import type { ChainModule } from "../../runtime/module.ts";
import { balances, changeSupply, metadatas, sendEnabled, setBalance, supplies } from "./balances.ts";
import { createHandlers } from "./handlers.ts";
import { type BankAccounts, type BankKeeper, createBankKeeper } from "./keeper.ts";
import { MODULE_NAME } from "./keys.ts";
import { DEFAULT_PARAMS, storedParams } from "./params.ts";
import { createQueries } from "./queries.ts";

export interface BankOptions {
  /** Names of the modules to whose accounts messages may not send. */
  readonly blockedModules: readonly string[];
}

/** Creates the module `bank`: balances and supply. */
export function createBankModule(
  options: BankOptions,
  accounts: BankAccounts,
): ChainModule & { readonly keeper: BankKeeper } {
  const keeper = createBankKeeper(accounts, options.blockedModules);
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: createHandlers({ accounts, keeper }),
    queries: createQueries(accounts),
    initGenesis: (context, genesis) => initGenesis(context, genesis, accounts),
    exportGenesis: (context) => exportGenesis(context, accounts),
    keeper,
  };
}

const SCHEMA: GenesisSchema<GenesisState> = {
  module: MODULE_NAME,
  typeName: "cosmos.bank.v1beta1.GenesisState",
  type: GenesisState,
};

/**
 * Reads parameters, balances and metadata. The supply is the sum of the balances; a supply in the document must equal it.
 * `params.send_enabled` is the old place of the entries in `send_enabled`; the new place takes precedence.
 */
function initGenesis(context: Context, json: JsonValue | undefined, accounts: BankAccounts): void {
  const state = readGenesis(SCHEMA, json) ?? GenesisState.decode(new Uint8Array(0));
  const { defaultSendEnabled } = partOr(json, "params", state.params, DEFAULT_PARAMS);
  storedParams.set(context, { sendEnabled: [], defaultSendEnabled });
  for (const { denom, enabled } of [...(state.params?.sendEnabled ?? []), ...state.sendEnabled])
    sendEnabled.set(context, denom, enabled);
  for (const metadata of state.denomMetadata) metadatas.set(context, metadata.base, metadata);
  const coins = state.balances.flatMap((entry, index) => initBalance(context, entry, index, accounts));
  checkSupply(state, coins);
  changeSupply(context, sumCoins(coins), 1n);
}

function initBalance(
  context: Context,
  entry: GenesisState["balances"][number],
  index: number,
  accounts: BankAccounts,
): readonly Coin[] {
  const path = `app_state.bank.balances[${index}]`;
  const address = atPath(`${path}.address`, () => accounts.parseAddress(entry.address));
  const coins = atPath(`${path}.coins`, () => parseCoins(entry.coins));
  if (!areValidCoins(coins))
    throw new GenesisError(`${path}.coins`, `${formatCoins(coins)}: sorted coins above zero were expected`);
  for (const coin of coins) {
    if (balances.has(context, { address, denom: coin.denom }))
      throw new GenesisError(path, `a second balance of ${entry.address}`);
    setBalance(context, address, coin);
  }
  return coins;
}

function checkSupply(state: GenesisState, coins: readonly Coin[]): void {
  const given = atPath("app_state.bank.supply", () => sumCoins(parseCoins(state.supply)));
  const expected = sumCoins(coins);
  if (given.length === 0 || formatCoins(given) === formatCoins(expected)) return;
  throw new GenesisError(
    "app_state.bank.supply",
    `genesis supply is incorrect, expected ${formatCoins(expected)}, got ${formatCoins(given)}`,
  );
}

/** Exports the state of the module. Balances are in the order of addresses. */
function exportGenesis(context: Context, accounts: BankAccounts): JsonValue {
  const byAddress = new Map<string, Coin[]>();
  for (const [{ address, denom }, amount] of balances.entries(context)) {
    const text = accounts.formatAddress(address);
    byAddress.set(text, [...(byAddress.get(text) ?? []), { denom, amount }]);
  }
  return printGenesis(SCHEMA, {
    params: storedParams.get(context),
    balances: [...byAddress].map(([address, coins]) => ({ address, coins: coins.map(toWireCoin) })),
    supply: [...supplies.entries(context)].map(([denom, amount]) => toWireCoin({ denom, amount })),
    denomMetadata: [...metadatas.entries(context)].map(([, metadata]) => metadata),
    sendEnabled: [...sendEnabled.entries(context)].map(([denom, enabled]) => ({ denom, enabled })),
  });
}
