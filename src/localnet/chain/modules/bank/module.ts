import { lengthPrefixed } from "../../store/collections.ts";
import { GenesisState } from "../../../../cosmos/proto/gen/cosmos/bank/v1beta1/genesis.ts";
import * as tx from "../../../../cosmos/proto/gen/cosmos/bank/v1beta1/tx.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import type { Context, ChainModule, QueryHandler } from "../../runtime/context.ts";
import { atPath, GenesisError, genesisSchema, partOr } from "../../runtime/genesis.ts";
import { messageHandlers, queryHandlers } from "../../runtime/handlers.ts";
import { pageOf } from "../../runtime/pagination.ts";
import type { Metadata } from "../../../../cosmos/proto/gen/cosmos/bank/v1beta1/bank.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmos/bank/v1beta1/query.ts";
import type { Coin as WireCoin } from "../../../../cosmos/proto/gen/cosmos/base/v1beta1/coin.ts";
import type {
  PageRequest,
  PageResponse,
} from "../../../../cosmos/proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import * as store from "./balances.ts";
import * as money from "../../runtime/coins.ts";
import * as errors from "../../runtime/errors.ts";
import * as bank from "./keeper.ts";

/** Creates the `bank` module. `hooks` is called at each payment, because the hooks are created after the module. */
export function createBankModule(
  options: bank.BankOptions,
  accounts: bank.BankAccounts,
  hooks?: () => bank.BankHooks | undefined,
): ChainModule & { readonly keeper: bank.BankKeeper } {
  const keeper = bank.createBankKeeper(accounts, options, hooks);
  return {
    name: store.MODULE_NAME,
    stores: [store.MODULE_NAME],
    messages: messageHandlers(tx.Msg, {
      Send: (context, message) => handleSend(context, message, { accounts, keeper }),
      MultiSend: (context, message) => handleMultiSend(context, message, { accounts, keeper }),
      UpdateParams: "not served",
      SetSendEnabled: "not served",
    }),
    queries: createQueries(accounts),
    initGenesis: (context, genesis) => initGenesis(context, genesis, accounts),
    exportGenesis: (context) => exportGenesis(context, accounts),
    keeper,
  };
}

const SCHEMA = genesisSchema(store.MODULE_NAME, "cosmos.bank.v1beta1.GenesisState", GenesisState);

/**
 * Reads parameters, balances and metadata. The supply is the sum of the balances, and a supply in the genesis must equal this sum.
 * Also reads entries from `params.send_enabled`, their location in earlier SDK releases. Entries in `send_enabled` take precedence.
 */
function initGenesis(context: Context, json: JsonValue | undefined, accounts: bank.BankAccounts): void {
  const state = SCHEMA.read(json) ?? GenesisState.decode(new Uint8Array(0));
  const { defaultSendEnabled } = partOr(json, "params", state.params, bank.moduleParams.defaults);
  bank.moduleParams.set(context, { sendEnabled: [], defaultSendEnabled });
  for (const { denom, enabled } of [...(state.params?.sendEnabled ?? []), ...state.sendEnabled])
    store.sendEnabled.set(context, denom, enabled);
  for (const metadata of state.denomMetadata) store.metadatas.set(context, metadata.base, metadata);
  const coins = state.balances.flatMap((entry, index) => initBalance(context, entry, index, accounts));
  checkSupply(state, coins);
  store.changeSupply(context, money.sumCoins(coins), 1n);
}

function initBalance(
  context: Context,
  entry: GenesisState["balances"][number],
  index: number,
  accounts: bank.BankAccounts,
): readonly money.Coin[] {
  const path = `app_state.bank.balances[${index}]`;
  const address = atPath(`${path}.address`, () => accounts.parseAddress(entry.address));
  const coins = atPath(`${path}.coins`, () => money.parseCoins(entry.coins));
  if (!money.areValidCoins(coins))
    throw new GenesisError(`${path}.coins`, `${money.formatCoins(coins)}: expected positive sorted coins`);
  for (const coin of coins) {
    if (store.balances.has(context, { address, denom: coin.denom }))
      throw new GenesisError(path, `a second balance of ${entry.address}`);
    store.setBalance(context, address, coin);
  }
  return coins;
}

function checkSupply(state: GenesisState, coins: readonly money.Coin[]): void {
  const given = atPath("app_state.bank.supply", () => money.sumCoins(money.parseCoins(state.supply)));
  const expected = money.sumCoins(coins);
  if (given.length === 0 || money.formatCoins(given) === money.formatCoins(expected)) return;
  throw new GenesisError(
    "app_state.bank.supply",
    `genesis supply is incorrect, expected ${money.formatCoins(expected)}, got ${money.formatCoins(given)}`,
  );
}

/** Exports the module's state, with balances ordered by address. */
function exportGenesis(context: Context, accounts: bank.BankAccounts): JsonValue {
  const byAddress = new Map<string, money.Coin[]>();
  for (const [{ address, denom }, amount] of store.balances.entries(context)) {
    const text = accounts.formatAddress(address);
    byAddress.set(text, [...(byAddress.get(text) ?? []), { denom, amount }]);
  }
  return SCHEMA.print({
    params: bank.moduleParams.get(context),
    balances: [...byAddress].map(([address, coins]) => ({ address, coins: coins.map(money.toWireCoin) })),
    supply: [...store.supplies.entries(context)].map(([denom, amount]) =>
      money.toWireCoin({ denom, amount }),
    ),
    denomMetadata: store.metadatas.values(context),
    sendEnabled: [...store.sendEnabled.entries(context)].map(([denom, enabled]) => ({ denom, enabled })),
  });
}

interface BankHandlerDeps {
  readonly accounts: bank.BankAccounts;
  readonly keeper: bank.BankKeeper;
}

// Each message's checks run in the SDK's order, because the first failed check determines the error.

function handleSend(context: Context, message: tx.MsgSend, deps: BankHandlerDeps): void {
  const from = readAddress(message.fromAddress, "from", deps.accounts);
  const to = readAddress(message.toAddress, "to", deps.accounts);
  const coins = money.parseCoins(message.amount);
  requirePositive(coins);
  deps.keeper.requireSendEnabled(context, coins);
  requireNotBlocked(to, message.toAddress, deps.keeper);
  deps.keeper.send(context, from, to, coins);
}

function handleMultiSend(context: Context, message: tx.MsgMultiSend, deps: BankHandlerDeps): void {
  const [input, ...others] = message.inputs;
  if (input === undefined) throw bank.ErrNoInputs();
  if (others.length > 0) throw bank.ErrMultipleSenders();
  if (message.outputs.length === 0) throw bank.ErrNoOutputs();
  const from = readPayment(input, "input", deps.accounts);
  const to = message.outputs.map((output) => readPayment(output, "output", deps.accounts));
  const total = money.sumCoins(to.flatMap(({ coins }) => coins));
  if (money.formatCoins(total) !== money.formatCoins(from.coins)) throw bank.ErrInputOutputMismatch();
  deps.keeper.requireSendEnabled(context, from.coins);
  for (const [index, { address }] of message.outputs.entries()) {
    const payment = to[index];
    if (payment !== undefined) requireNotBlocked(payment.address, address, deps.keeper);
  }
  deps.keeper.sendToMany(context, from, to);
}

function readPayment(
  side: { readonly address: string; readonly coins: tx.MsgSend["amount"] },
  sideName: string,
  accounts: bank.BankAccounts,
): bank.Payment {
  const address = readAddress(side.address, sideName, accounts);
  const coins = money.parseCoins(side.coins);
  requirePositive(coins);
  return { address, coins };
}

function readAddress(text: string, fieldName: string, accounts: bank.BankAccounts): Uint8Array {
  return errors.orThrowWith(errors.ErrInvalidAddress, `invalid ${fieldName} address`, () =>
    accounts.parseAddress(text),
  );
}

function requirePositive(coins: readonly money.Coin[]): void {
  if (!money.arePositive(coins)) throw errors.ErrInvalidCoins(money.formatCoins(coins));
}

function requireNotBlocked(to: Uint8Array, text: string, keeper: bank.BankKeeper): void {
  if (keeper.isBlocked(to)) throw errors.ErrUnauthorized(`${text} is not allowed to receive funds`);
}

function createQueries(accounts: bank.BankAccounts): readonly QueryHandler[] {
  const parse = (address: string): Uint8Array =>
    errors.orThrowWith(errors.invalidArgument, "invalid address", () => accounts.parseAddress(address));
  const all = (
    context: Context,
    request: { readonly address: string; readonly pagination: PageRequest | undefined },
  ) => pageOfBalances(context, parse(request.address), request.pagination);
  const owners = (
    context: Context,
    { denom, pagination: request }: { readonly denom: string; readonly pagination: PageRequest | undefined },
  ): wire.QueryDenomOwnersResponse => {
    requireQueriedDenom(denom);
    const range = store.holders.range(context, store.holdersKey(denom));
    const { items, pagination } = pageOf(range, request, (_value, { address }) => ({
      address: accounts.formatAddress(address),
      balance: money.toWireCoin(store.balanceOf(context, address, denom)),
    }));
    return { denomOwners: items, pagination };
  };
  return queryHandlers(wire.Query, {
    Params: bank.moduleParams.query,
    Balance: (context, { address, denom }) => {
      requireQueriedDenom(denom);
      return { balance: money.toWireCoin(store.balanceOf(context, parse(address), denom)) };
    },
    // Unlike in the Balance query, the SDK checks the address before the denomination in this query.
    SpendableBalanceByDenom: (context, { address, denom }) => {
      const bytes = parse(address);
      requireQueriedDenom(denom);
      return { balance: money.toWireCoin(spendableOf(context, accounts, bytes, denom)) };
    },
    AllBalances: all,
    SpendableBalances: (context, request) => {
      const page = all(context, request);
      const available = allSpendable(context, accounts, parse(request.address));
      return {
        balances: page.balances.map(({ denom }) =>
          money.toWireCoin({ denom, amount: money.amountOf(available, denom) }),
        ),
        pagination: page.pagination,
      };
    },
    TotalSupply: (context, request) => {
      const { items, pagination } = pageOf(
        store.supplies.range(context),
        request.pagination,
        (amount, denom) => money.toWireCoin({ denom, amount }),
      );
      return { supply: items, pagination };
    },
    SupplyOf: (context, { denom }) => {
      requireQueriedDenom(denom);
      return { amount: money.toWireCoin({ denom, amount: store.supplies.get(context, denom) ?? 0n }) };
    },
    DenomsMetadata: (context, request) => {
      const { items, pagination } = pageOf(store.metadatas.range(context), request.pagination, (one) => one);
      return { metadatas: items, pagination };
    },
    DenomMetadata: metadataOf,
    DenomMetadataByQueryString: metadataOf,
    DenomOwners: owners,
    DenomOwnersByQuery: owners,
    SendEnabled: sendEnabledPage,
  });
}

/** Returns an account's spendable coin. If a genesis account locks more coins than it has, throws a plain error, because Go panics. */
function spendableOf(
  context: Context,
  accounts: bank.BankAccounts,
  address: Uint8Array,
  denom: string,
): money.Coin {
  const { amount: balance } = store.balanceOf(context, address, denom);
  const amount = balance - money.amountOf(accounts.lockedCoins(context, address), denom);
  if (amount < 0n) throw new Error(`negative coin amount: ${amount}`);
  return { denom, amount };
}

/**
 * Returns an account's spendable coins. As in the SDK, returns no coins if the account's locked amount of any denomination exceeds
 * its balance.
 */
function allSpendable(
  context: Context,
  accounts: bank.BankAccounts,
  address: Uint8Array,
): readonly money.Coin[] {
  const held = [...store.balancesOf(context, address)];
  const locked = accounts.lockedCoins(context, address);
  if (locked.some(({ denom, amount }) => amount > money.amountOf(held, denom))) return [];
  return money.mapAmounts(held, (amount, denom) => amount - money.amountOf(locked, denom));
}

function pageOfBalances(
  context: Context,
  address: Uint8Array,
  request: PageRequest | undefined,
): { readonly balances: WireCoin[]; readonly pagination: PageResponse } {
  const range = store.balances.range(context, lengthPrefixed(address));
  const { items, pagination } = pageOf(range, request, (amount, { denom }) =>
    money.toWireCoin({ denom, amount }),
  );
  return { balances: items, pagination };
}

function metadataOf(
  context: Context,
  { denom }: { readonly denom: string },
): { readonly metadata: Metadata } {
  requireQueriedDenom(denom);
  const metadata = store.metadatas.get(context, denom);
  if (metadata === undefined) throw errors.notFound(`client metadata for denom ${denom}`);
  return { metadata };
}

/** Returns the `send_enabled` entries for the requested denominations, or a page of all entries if no denominations are requested. */
function sendEnabledPage(
  context: Context,
  request: wire.QuerySendEnabledRequest,
): wire.QuerySendEnabledResponse {
  if (request.denoms.length > 0) {
    const requested = request.denoms.flatMap((denom) => {
      const enabled = store.sendEnabled.get(context, denom);
      return enabled === undefined ? [] : [{ denom, enabled }];
    });
    return { sendEnabled: requested, pagination: undefined };
  }
  const { items, pagination } = pageOf(
    store.sendEnabled.range(context),
    request.pagination,
    (enabled, denom) => ({
      denom,
      enabled,
    }),
  );
  return { sendEnabled: items, pagination };
}

function requireQueriedDenom(denom: string): void {
  if (!money.isDenom(denom)) throw errors.invalidArgument(`invalid denom: ${denom}`);
}
