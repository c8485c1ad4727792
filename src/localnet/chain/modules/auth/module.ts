import { GenesisState } from "../../../../cosmos/proto/gen/cosmos/auth/v1beta1/genesis.ts";
import type { Any } from "../../../../cosmos/proto/gen/google/protobuf/any.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import type { Account } from "../../runtime/ante-step.ts";
import type { Context } from "../../runtime/context.ts";
import { atPath, type GenesisSchema, partOr, printGenesis, readGenesis } from "../../runtime/genesis.ts";
import type { ChainModule } from "../../runtime/module.ts";
import { type AuthKeeper, type AuthOptions, createAuthKeeper, fromAny, toAny } from "./keeper.ts";
import { MODULE_NAME, STORE_NAME } from "./keys.ts";
import { DEFAULT_PARAMS, validateParams } from "./params.ts";
import { createQueries } from "./queries.ts";

/** Creates the module `auth`: accounts with numbers, sequences and keys. */
export function createAuthModule(options: AuthOptions): ChainModule & { readonly keeper: AuthKeeper } {
  const keeper = createAuthKeeper(options);
  return {
    name: MODULE_NAME,
    stores: [STORE_NAME],
    messages: [],
    queries: createQueries(keeper, options.bech32Prefix),
    initGenesis: (context, genesis) => initGenesis(context, genesis, keeper),
    exportGenesis: (context) => exportGenesis(context, keeper),
    keeper,
  };
}

const SCHEMA: GenesisSchema<GenesisState> = {
  module: MODULE_NAME,
  typeName: "cosmos.auth.v1beta1.GenesisState",
  type: GenesisState,
};

/**
 * Reads parameters and accounts, and creates all module accounts in alphabetical order. An account whose number is taken
 * gets the lowest free number, in document order (SDK `SanitizeGenesisAccounts`).
 */
function initGenesis(context: Context, json: JsonValue | undefined, keeper: AuthKeeper): void {
  const state = readGenesis(SCHEMA, json);
  const params = partOr(json, "params", state?.params, DEFAULT_PARAMS);
  validateParams(params);
  keeper.setParams(context, params);
  const accounts = (state?.accounts ?? []).map((any, index) => readAccount(keeper, any, index));
  let last = -1n;
  for (const account of withUniqueNumbers(accounts)) {
    // The counter passes every used number, so that the next new account gets a free one.
    while (last < account.base.accountNumber) last = keeper.nextNumber(context);
    keeper.set(context, account);
  }
  for (const name of keeper.moduleNames) keeper.moduleAccount(context, name);
}

/** Exports parameters and all accounts in the order of their numbers. */
function exportGenesis(context: Context, keeper: AuthKeeper): JsonValue {
  const accounts = [...keeper.all(context)].toSorted(byNumber);
  return printGenesis(SCHEMA, { params: keeper.params(context), accounts: accounts.map(toAny) });
}

function readAccount(keeper: AuthKeeper, any: Any, index: number): Account {
  return atPath(`app_state.auth.accounts[${index}]`, () => {
    const account = fromAny(any);
    keeper.parseAddress(account.base.address);
    return account;
  });
}

function byNumber(a: Account, b: Account): number {
  return a.base.accountNumber < b.base.accountNumber ? -1 : 1;
}

/** Gives each account a number of its own. Returns the accounts in the order of their numbers. */
function withUniqueNumbers(accounts: readonly Account[]): readonly Account[] {
  const taken = new Set<bigint>();
  const duplicates: Account[] = [];
  const unique = accounts.filter((account) => {
    const isFree = !taken.has(account.base.accountNumber);
    taken.add(account.base.accountNumber);
    if (!isFree) duplicates.push(account);
    return isFree;
  });
  let next = 0n;
  const renumbered = duplicates.map((account) => {
    while (taken.has(next)) next += 1n;
    taken.add(next);
    return { ...account, base: { ...account.base, accountNumber: next } };
  });
  return [...unique, ...renumbered].toSorted(byNumber);
}
