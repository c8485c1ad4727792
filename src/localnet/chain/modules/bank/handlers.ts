import { MsgMultiSend, MsgSend } from "../../../../cosmos/proto/gen/cosmos/bank/v1beta1/tx.ts";
import { TYPE_URL } from "../../../../cosmos/proto/type-urls.ts";
import { areValidCoins, type Coin, formatCoins, parseCoins, sumCoins } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { toMessageHandler } from "../../runtime/handlers.ts";
import type { MessageHandler } from "../../runtime/module.ts";
import { ErrInvalidAddress, ErrInvalidCoins, ErrUnauthorized } from "../../runtime/errors.ts";
import {
  ErrInputOutputMismatch,
  ErrMultipleSenders,
  ErrNoInputs,
  ErrNoOutputs,
  type BankAccounts,
  type BankKeeper,
  type Payment,
} from "./keeper.ts";

export interface BankHandlerDeps {
  readonly accounts: BankAccounts;
  readonly keeper: BankKeeper;
}

/** Creates the handlers of MsgSend and MsgMultiSend. They check in the SDK's order, which decides the error of a message. */
export function createHandlers(deps: BankHandlerDeps): readonly MessageHandler[] {
  return [
    toMessageHandler({
      typeUrl: TYPE_URL.send,
      type: MsgSend,
      signers: ({ fromAddress }) => [fromAddress],
      handle: (context, message) => handleSend(context, message, deps),
    }),
    toMessageHandler({
      typeUrl: TYPE_URL.multiSend,
      type: MsgMultiSend,
      signers: ({ inputs }) => inputs.map(({ address }) => address),
      handle: (context, message) => handleMultiSend(context, message, deps),
    }),
  ];
}

function handleSend(context: Context, message: MsgSend, deps: BankHandlerDeps): void {
  const from = readAddress(message.fromAddress, "from", deps.accounts);
  const to = readAddress(message.toAddress, "to", deps.accounts);
  const coins = parseCoins(message.amount);
  requirePositive(coins);
  deps.keeper.requireSendEnabled(context, coins);
  requireNotBlocked(to, message.toAddress, deps.keeper);
  deps.keeper.send(context, from, to, coins);
}

function handleMultiSend(context: Context, message: MsgMultiSend, deps: BankHandlerDeps): void {
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
  side: { readonly address: string; readonly coins: MsgSend["amount"] },
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
  if (coins.length === 0 || !areValidCoins(coins)) throw ErrInvalidCoins(formatCoins(coins));
}

function requireNotBlocked(to: Uint8Array, text: string, keeper: BankKeeper): void {
  if (keeper.isBlocked(to)) throw ErrUnauthorized(`${text} is not allowed to receive funds`);
}
