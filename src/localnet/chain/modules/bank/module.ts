import { GenesisState } from "../../../../cosmos/proto/gen/cosmos/bank/v1beta1/genesis.ts";
import * as tx from "../../../../cosmos/proto/gen/cosmos/bank/v1beta1/tx.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import {
  areValidCoins,
  arePositive,
  type Coin,
  formatCoins,
  parseCoins,
  sumCoins,
  toWireCoin,
} from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrInvalidAddress, ErrInvalidCoins, ErrUnauthorized } from "../../runtime/errors.ts";
import {
  atPath,
  GenesisError,
  type GenesisSchema,
  partOr,
  printGenesis,
  readGenesis,
} from "../../runtime/genesis.ts";
import { messageHandlers } from "../../runtime/handlers.ts";
import type { ChainModule, MessageHandler } from "../../runtime/module.ts";
import { balances, changeSupply, metadatas, sendEnabled, setBalance, supplies } from "./balances.ts";
import {
  type BankAccounts,
  type BankHooks,
  type BankKeeper,
  type BankOptions,
  createBankKeeper,
  ErrInputOutputMismatch,
  ErrMultipleSenders,
  ErrNoInputs,
  ErrNoOutputs,
  type Payment,
} from "./keeper.ts";
import { MODULE_NAME } from "./keys.ts";
import { moduleParams } from "./params.ts";
import { createQueries } from "./queries.ts";

/** Creates the `bank` module: balances and supply. Hooks are looked up at each payment. */
export function createBankModule(
  options: BankOptions,
  accounts: BankAccounts,
  hooks?: () => BankHooks | undefined,
): ChainModule & { readonly keeper: BankKeeper } {
  const keeper = createBankKeeper(accounts, options, hooks);
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
 * Reads parameters, balances and metadata. The supply is the sum of the balances; any supply in the document must match it.
 * `params.send_enabled` is the old location of the `send_enabled` entries; the new location takes precedence.
 */
function initGenesis(context: Context, json: JsonValue | undefined, accounts: BankAccounts): void {
  const state = readGenesis(SCHEMA, json) ?? GenesisState.decode(new Uint8Array(0));
  const { defaultSendEnabled } = partOr(json, "params", state.params, moduleParams.defaults);
  moduleParams.set(context, { sendEnabled: [], defaultSendEnabled });
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

/** Exports the module's state. Balances are ordered by address. */
function exportGenesis(context: Context, accounts: BankAccounts): JsonValue {
  const byAddress = new Map<string, Coin[]>();
  for (const [{ address, denom }, amount] of balances.entries(context)) {
    const text = accounts.formatAddress(address);
    byAddress.set(text, [...(byAddress.get(text) ?? []), { denom, amount }]);
  }
  return printGenesis(SCHEMA, {
    params: moduleParams.get(context),
    balances: [...byAddress].map(([address, coins]) => ({ address, coins: coins.map(toWireCoin) })),
    supply: [...supplies.entries(context)].map(([denom, amount]) => toWireCoin({ denom, amount })),
    denomMetadata: [...metadatas.entries(context)].map(([, metadata]) => metadata),
    sendEnabled: [...sendEnabled.entries(context)].map(([denom, enabled]) => ({ denom, enabled })),
  });
}

interface BankHandlerDeps {
  readonly accounts: BankAccounts;
  readonly keeper: BankKeeper;
}

/** Creates the handlers for MsgSend and MsgMultiSend. Checks run in the SDK's order, which determines a message's error. */
function createHandlers(deps: BankHandlerDeps): readonly MessageHandler[] {
  return messageHandlers(tx.Msg, {
    Send: (context, message) => handleSend(context, message, deps),
    MultiSend: (context, message) => handleMultiSend(context, message, deps),
    UpdateParams: "not served",
    SetSendEnabled: "not served",
  });
}

function handleSend(context: Context, message: tx.MsgSend, deps: BankHandlerDeps): void {
  const from = readAddress(message.fromAddress, "from", deps.accounts);
  const to = readAddress(message.toAddress, "to", deps.accounts);
  const coins = parseCoins(message.amount);
  requirePositive(coins);
  deps.keeper.requireSendEnabled(context, coins);
  requireNotBlocked(to, message.toAddress, deps.keeper);
  deps.keeper.send(context, from, to, coins);
}

function handleMultiSend(context: Context, message: tx.MsgMultiSend, deps: BankHandlerDeps): void {
  const [input, ...others] = message.inputs;
  if (input === undefined) throw ErrNoInputs();
  if (others.length > 0) throw ErrMultipleSenders();
  if (message.outputs.length === 0) throw ErrNoOutputs();
  const from = readPayment(input, "input", deps.accounts);
  const to = message.outputs.map((output) => readPayment(output, "output", deps.accounts));
  const total = sumCoins(to.flatMap(({ coins }) => coins));
  if (formatCoins(total) !== formatCoins(from.coins)) throw ErrInputOutputMismatch();
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
  accounts: BankAccounts,
): Payment {
  const address = readAddress(side.address, sideName, accounts);
  const coins = parseCoins(side.coins);
  requirePositive(coins);
  return { address, coins };
}

function readAddress(text: string, fieldName: string, accounts: BankAccounts): Uint8Array {
  try {
    return accounts.parseAddress(text);
  } catch (thrown) {
    throw ErrInvalidAddress(
      `invalid ${fieldName} address: ${thrown instanceof Error ? thrown.message : text}`,
    );
  }
}

function requirePositive(coins: readonly Coin[]): void {
  if (!arePositive(coins)) throw ErrInvalidCoins(formatCoins(coins));
}

function requireNotBlocked(to: Uint8Array, text: string, keeper: BankKeeper): void {
  if (keeper.isBlocked(to)) throw ErrUnauthorized(`${text} is not allowed to receive funds`);
}
