import { invalidArgument, notFound } from "../../runtime/errors.ts";
import { pageOf } from "../../runtime/pagination.ts";
import { eachAtPath, genesisSchema, partOr } from "../../runtime/genesis.ts";
import { GenesisState } from "../../../../cosmos/proto/gen/cosmos/auth/v1beta1/genesis.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmos/auth/v1beta1/query.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import { trimGoSpace } from "../../../../platform/base/text.ts";
import type { Account } from "../../runtime/ante-step.ts";
import type { Context, ChainModule, QueryHandler } from "../../runtime/context.ts";
import { orQueryError, queryHandlers } from "../../runtime/handlers.ts";
import { validateVesting } from "../../runtime/vesting.ts";
import * as auth from "./keeper.ts";

/** Creates the `auth` module: accounts with numbers, sequences and public keys. */
export function createAuthModule(
  options: auth.AuthOptions,
): ChainModule & { readonly keeper: auth.AuthKeeper } {
  const keeper = auth.createAuthKeeper(options);
  return {
    name: auth.MODULE_NAME,
    stores: [auth.STORE_NAME],
    messages: [],
    queries: createQueries(keeper, options.bech32Prefix),
    initGenesis: (context, genesis) => {
      initGenesis(context, genesis, keeper);
      for (const name of options.genesisAccounts ?? keeper.moduleNames) keeper.moduleAccount(context, name);
    },
    exportGenesis: (context) => exportGenesis(context, keeper),
    keeper,
  };
}

const SCHEMA = genesisSchema(auth.MODULE_NAME, "cosmos.auth.v1beta1.GenesisState", GenesisState);

/**
 * Reads parameters and accounts. Duplicate account numbers are replaced by the lowest free numbers, in document order (SDK
 * `SanitizeGenesisAccounts`).
 */
function initGenesis(context: Context, json: JsonValue | undefined, keeper: auth.AuthKeeper): void {
  const state = SCHEMA.read(json);
  auth.moduleParams.set(context, partOr(json, "params", state?.params, auth.moduleParams.defaults));
  const accounts = eachAtPath("app_state.auth.accounts", state?.accounts ?? [], (any) => {
    const account = auth.fromAny(any);
    keeper.parseAddress(account.base.address);
    if (account.vesting !== undefined) validateVesting(account.vesting);
    return account;
  });
  let last = -1n;
  for (const account of withUniqueNumbers(accounts)) {
    // Advance the counter past every used number, so that the next new account gets an unused number.
    while (last < account.base.accountNumber) last = keeper.nextNumber(context);
    keeper.set(context, account);
  }
}

/** Exports the parameters and all accounts, ordered by account number. */
function exportGenesis(context: Context, keeper: auth.AuthKeeper): JsonValue {
  const accounts = keeper.all(context).toSorted(byNumber);
  return SCHEMA.print({ params: auth.moduleParams.get(context), accounts: accounts.map(auth.toAny) });
}

function byNumber(a: Account, b: Account): number {
  return a.base.accountNumber < b.base.accountNumber ? -1 : 1;
}

/** Assigns each account a unique number, and returns the accounts ordered by number. */
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

function createQueries(keeper: auth.AuthKeeper, bech32Prefix: string): readonly QueryHandler[] {
  return queryHandlers(wire.Query, {
    Params: auth.moduleParams.query,
    Accounts: (context, request) => {
      const { items, pagination } = pageOf(keeper.range(context), request.pagination, auth.toAny);
      return { accounts: items, pagination };
    },
    Account: (context, { address }) => ({
      account: auth.toAny(requireAccount(context, keeper, address, "Address")),
    }),
    AccountInfo: (context, { address }) => ({
      info: requireAccount(context, keeper, address, "address").base,
    }),
    AccountAddressByID: (context, { accountId }) => {
      const address = keeper.addressByNumber(context, accountId);
      if (address === undefined) throw notFound(`account address not found with account number ${accountId}`);
      return { accountAddress: keeper.formatAddress(address) };
    },
    ModuleAccounts: (context) => ({
      accounts: keeper.moduleNames.map((name) => auth.toAny(requireModuleAccount(context, keeper, name))),
    }),
    ModuleAccountByName: (context, { name }) => {
      if (name === "") throw invalidArgument("module name is empty");
      return { account: auth.toAny(requireModuleAccount(context, keeper, name)) };
    },
    Bech32Prefix: () => ({ bech32Prefix }),
    AddressBytesToString: (_context, { addressBytes }) => {
      if (addressBytes.length === 0) throw invalidArgument("empty address bytes is not allowed");
      return { addressString: orQueryError(() => keeper.formatAddress(addressBytes)) };
    },
    AddressStringToBytes: (_context, { addressString }) => {
      if (trimGoSpace(addressString) === "") throw invalidArgument("empty address string is not allowed");
      return { addressBytes: orQueryError(() => keeper.parseAddress(addressString)) };
    },
  });
}

/** Reads an account by bech32 address. Errors contain `fieldName`, because the SDK names the field differently in each query. */
function requireAccount(context: Context, keeper: auth.AuthKeeper, text: string, fieldName: string): Account {
  if (text === "") throw invalidArgument(`${fieldName} cannot be empty`);
  const address = orQueryError(() => keeper.parseAddress(text));
  const account = keeper.get(context, address);
  if (account === undefined) throw notFound(`account ${text} not found`);
  return account;
}

function requireModuleAccount(context: Context, keeper: auth.AuthKeeper, name: string): Account {
  if (!keeper.isModuleName(name)) throw notFound(`account ${name} not found`);
  return keeper.moduleAccount(context, name);
}
