import type { Metadata } from "../../../cosmos/proto/gen/cosmos/bank/v1beta1/bank.ts";
import type { Coin as WireCoin } from "../../../cosmos/proto/gen/cosmos/base/v1beta1/coin.ts";
import type * as tx from "../../../cosmos/proto/gen/osmosis/tokenfactory/v1beta1/tx.ts";
import { parseAddress } from "../../../localnet/chain/runtime/address.ts";
import { type Coin, formatCoin, isDenom, parseWireInt } from "../../../localnet/chain/runtime/coins.ts";
import {
  ErrInvalidAddress,
  ErrInvalidCoins,
  wrapErrors,
  orThrow,
} from "../../../localnet/chain/runtime/errors.ts";
import { validateMetadata } from "../../../localnet/chain/modules/bank/metadata.ts";
import { creatorOf, tokenDenom } from "./denom.ts";
import { ErrInvalidDenom } from "./keys.ts";

// Checks of the messages (`Validate`), which the handlers run first. They throw `ModuleError`.

export function checkCreateDenom({ sender, subdenom }: tx.MsgCreateDenom, bech32Prefix: string): void {
  requireAccount(sender, "Invalid sender address", bech32Prefix);
  wrapErrors(
    (error) => ErrInvalidDenom(error.message),
    () => tokenDenom(sender, subdenom),
  );
}

/** Checks the sender and amount of MsgMint or MsgBurn. Returns the coin. */
export function checkAmountMessage(
  { sender, amount }: { readonly sender: string; readonly amount: WireCoin | undefined },
  bech32Prefix: string,
): Coin {
  requireAccount(sender, "Invalid sender address", bech32Prefix);
  const coin = readCoin(amount);
  if (coin.amount === 0n) throw ErrInvalidCoins(formatCoin(coin));
  return coin;
}

/** Returns the coin. An amount of zero is valid. */
export function checkForceTransfer(message: tx.MsgForceTransfer, bech32Prefix: string): Coin {
  requireAccount(message.sender, "Invalid sender address", bech32Prefix);
  requireAccount(message.transferFromAddress, "Invalid address", bech32Prefix);
  requireAccount(message.transferToAddress, "Invalid address", bech32Prefix);
  return readCoin(message.amount);
}

export function checkChangeAdmin({ sender, newAdmin, denom }: tx.MsgChangeAdmin, bech32Prefix: string): void {
  requireAccount(sender, "Invalid sender address", bech32Prefix);
  requireAccount(newAdmin, "Invalid address", bech32Prefix);
  creatorOf(denom, bech32Prefix);
}

export function checkSetDenomMetadata(
  { sender, metadata = NO_METADATA }: tx.MsgSetDenomMetadata,
  bech32Prefix: string,
): Metadata {
  requireAccount(sender, "Invalid sender address", bech32Prefix);
  validateMetadata(metadata);
  creatorOf(metadata.base, bech32Prefix);
  return metadata;
}

const NO_METADATA: Metadata = {
  description: "",
  denomUnits: [],
  base: "",
  display: "",
  name: "",
  symbol: "",
  uri: "",
  uriHash: "",
};

export function checkSetBeforeSendHook(
  { sender, contractAddr, denom }: tx.MsgSetBeforeSendHook,
  bech32Prefix: string,
): void {
  requireAccount(sender, "Invalid sender address", bech32Prefix);
  if (contractAddr !== "") requireAccount(contractAddr, "Invalid cosmwasm contract address", bech32Prefix);
  wrapErrors(
    () => ErrInvalidDenom(),
    () => creatorOf(denom, bech32Prefix),
  );
}

function requireAccount(text: string, words: string, bech32Prefix: string): void {
  orThrow(
    () => parseAddress(bech32Prefix, text),
    (reason) => ErrInvalidAddress(`${words} (${reason})`),
  );
}

/** Go prints an absent coin's amount as `<nil>`. */
function readCoin(amount: WireCoin | undefined): Coin {
  if (amount === undefined) throw ErrInvalidCoins("<nil>");
  const coin = { denom: amount.denom, amount: parseWireInt(amount.amount) };
  if (!isDenom(coin.denom) || coin.amount < 0n) throw ErrInvalidCoins(formatCoin(coin));
  return coin;
}
