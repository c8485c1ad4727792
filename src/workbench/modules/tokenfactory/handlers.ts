import * as tx from "../../../cosmos/proto/gen/osmosis/tokenfactory/v1beta1/tx.ts";
import { utf8 } from "../../../platform/base/bytes.ts";
import { formatCoin, sumCoins } from "../../../localnet/chain/runtime/coins.ts";
import type { Context } from "../../../localnet/chain/runtime/context.ts";
import {
  ErrInvalidRequest,
  type ModuleError,
  unregisteredError,
  wrapErrors,
} from "../../../localnet/chain/runtime/errors.ts";
import { event } from "../../../localnet/chain/runtime/events.ts";
import { messageHandlers } from "../../../localnet/chain/runtime/handlers.ts";
import type { MessageHandler } from "../../../localnet/chain/runtime/module.ts";
import { checkUpdate } from "../../../localnet/chain/runtime/params-module.ts";
import { metadataText } from "../../../localnet/chain/modules/bank/metadata.ts";
import { requireWhitelisted } from "./before-send.ts";
import { creatorOf } from "./denom.ts";
import {
  adminOf,
  createDenom as storeNewDenom,
  isEscrowAddress,
  isModuleAccount,
  type Keepers,
  parseAccount,
  setAdmin,
  setBeforeSendHook as storeHook,
} from "./keeper.ts";
import { ErrDenomDoesNotExist, ErrUnauthorized, MODULE_NAME } from "./keys.ts";
import * as messages from "./messages.ts";
import { moduleParams, validateParams } from "./params.ts";

/** Creates handlers for all messages. Contracts send the same messages as custom messages (`bindings.ts`). */
export function createHandlers(keepers: Keepers): readonly MessageHandler[] {
  return messageHandlers(tx.Msg, {
    CreateDenom: (context, message) => createDenom(context, message, keepers),
    Mint: (context, message) => mint(context, message, keepers),
    Burn: (context, message) => burn(context, message, keepers),
    ForceTransfer: (context, message) => forceTransfer(context, message, keepers),
    ChangeAdmin: (context, message) => changeAdmin(context, message, keepers),
    SetDenomMetadata: (context, message) => setDenomMetadata(context, message, keepers),
    SetBeforeSendHook: (context, message) => setBeforeSendHook(context, message, keepers),
    UpdateParams: moduleParams.update({
      authority: keepers.authority,
      signerError: ErrInvalidRequest,
      check: checkUpdate(keepers.bech32Prefix, (params) => validateParams(params, keepers.bech32Prefix)),
    }),
  });
}

export function createDenom(
  context: Context,
  message: tx.MsgCreateDenom,
  keepers: Keepers,
): tx.MsgCreateDenomResponse {
  wrapErrors("failed to validate MsgCreateDenom", () =>
    messages.checkCreateDenom(message, keepers.bech32Prefix),
  );
  const newTokenDenom = storeNewDenom(context, message.sender, message.subdenom, keepers);
  context.emit(
    event("create_denom", [
      ["creator", message.sender],
      ["new_token_denom", newTokenDenom],
    ]),
  );
  return { newTokenDenom };
}

/** Mints coins and sends them to the admin or to `mintToAddress`. */
export function mint(context: Context, message: tx.MsgMint, keepers: Keepers): void {
  const { bech32Prefix, bank } = keepers;
  const coin = wrapErrors("failed to validate MsgMint", () =>
    messages.checkAmountMessage(message, bech32Prefix),
  );
  if (bank.metadata(context, coin.denom) === undefined) throw ErrDenomDoesNotExist(`denom: ${coin.denom}`);
  requireAdmin(context, coin.denom, message.sender);
  const recipient = message.mintToAddress === "" ? message.sender : message.mintToAddress;
  creatorOf(coin.denom, bech32Prefix);
  const to = parseAccount(recipient, bech32Prefix);
  requireOrdinary(context, to, "minting to", keepers);
  bank.mint(context, MODULE_NAME, [coin]);
  bank.sendFromModule(context, MODULE_NAME, to, [coin]);
  context.emit(
    event("tf_mint", [
      ["mint_to_address", recipient],
      ["amount", formatCoin(coin)],
    ]),
  );
}

/** Burns the admin's or `burnFromAddress`'s coins. */
export function burn(context: Context, message: tx.MsgBurn, keepers: Keepers): void {
  const { bech32Prefix, bank, accounts } = keepers;
  const coin = wrapErrors("failed to validate MsgBurn", () =>
    messages.checkAmountMessage(message, bech32Prefix),
  );
  requireAdmin(context, coin.denom, message.sender);
  const owner = message.burnFromAddress === "" ? message.sender : message.burnFromAddress;
  // The deployed module searches for an account under the characters of the address. It finds none, but pays for the read.
  accounts.get(context, utf8(owner));
  creatorOf(coin.denom, bech32Prefix);
  const from = parseAccount(owner, bech32Prefix);
  requireOrdinary(context, from, "burning from", keepers);
  bank.sendToModule(context, from, MODULE_NAME, [coin]);
  bank.burn(context, MODULE_NAME, [coin]);
  context.emit(
    event("tf_burn", [
      ["burn_from_address", owner],
      ["amount", formatCoin(coin)],
    ]),
  );
}

export function forceTransfer(context: Context, message: tx.MsgForceTransfer, keepers: Keepers): void {
  const { bech32Prefix, bank } = keepers;
  const coin = wrapErrors("failed to validate MsgForceTransfer", () =>
    messages.checkForceTransfer(message, bech32Prefix),
  );
  requireAdmin(context, coin.denom, message.sender);
  creatorOf(coin.denom, bech32Prefix);
  const { transferFromAddress, transferToAddress } = message;
  const from = parseAccount(transferFromAddress, bech32Prefix);
  const to = parseAccount(transferToAddress, bech32Prefix);
  requireNoModule(context, from, "force transfer from", keepers);
  requireNoModule(context, to, "force transfer to", keepers);
  requireNoEscrow(context, from, "force transfer from");
  requireNoEscrow(context, to, "force transfer to");
  bank.send(context, from, to, sumCoins([coin]));
  context.emit(
    event("force_transfer", [
      ["transfer_from_address", transferFromAddress],
      ["transfer_to_address", transferToAddress],
      ["amount", formatCoin(coin)],
    ]),
  );
}

function requireAdmin(context: Context, denom: string, sender: string): void {
  if (adminOf(context, denom) !== sender) throw ErrUnauthorized();
}

/** Throws if the address is a module account or a transfer channel's escrow account. */
function requireOrdinary(context: Context, address: Uint8Array, action: string, keepers: Keepers): void {
  requireNoModule(context, address, action, keepers);
  requireNoEscrow(context, address, action);
}

function requireNoModule(context: Context, address: Uint8Array, action: string, keepers: Keepers): void {
  if (isModuleAccount(context, address, keepers)) throw forbidden(`${action} module accounts`);
}

function requireNoEscrow(context: Context, address: Uint8Array, action: string): void {
  if (isEscrowAddress(context, address)) throw forbidden(`${action} IBC escrow accounts`);
}

/** Creates an error with a gRPC status instead of a registered error. */
function forbidden(action: string): ModuleError {
  return unregisteredError(`rpc error: code = Internal desc = ${action} is forbidden`);
}

export function changeAdmin(context: Context, message: tx.MsgChangeAdmin, keepers: Keepers): void {
  wrapErrors("failed to validate MsgChangeAdmin", () =>
    messages.checkChangeAdmin(message, keepers.bech32Prefix),
  );
  const { sender, denom, newAdmin } = message;
  const admin = adminOf(context, denom);
  if (sender !== admin) throw ErrUnauthorized(`need: ${admin}, received: ${sender}, denom: ${denom}`);
  // The deployed module reads the entry again before it changes it.
  adminOf(context, denom);
  setAdmin(context, denom, newAdmin, keepers);
  context.emit(
    event("change_admin", [
      ["denom", denom],
      ["new_admin", newAdmin],
    ]),
  );
}

export function setDenomMetadata(context: Context, message: tx.MsgSetDenomMetadata, keepers: Keepers): void {
  const metadata = wrapErrors("failed to validate MsgSetDenomMetadata", () =>
    messages.checkSetDenomMetadata(message, keepers.bech32Prefix),
  );
  requireAdmin(context, metadata.base, message.sender);
  keepers.bank.setMetadata(context, metadata);
  context.emit(
    event("set_denom_metadata", [
      ["denom", metadata.base],
      ["denom_metadata", metadataText(metadata)],
    ]),
  );
}

/** Sets the contract that is called before payments. An empty address removes it. */
export function setBeforeSendHook(
  context: Context,
  message: tx.MsgSetBeforeSendHook,
  keepers: Keepers,
): void {
  const { bech32Prefix } = keepers;
  wrapErrors("failed to validate MsgSetBeforeSendHook", () =>
    messages.checkSetBeforeSendHook(message, bech32Prefix),
  );
  const { sender, denom, contractAddr } = message;
  requireAdmin(context, denom, sender);
  if (contractAddr !== "")
    requireWhitelisted(context, denom, parseAccount(contractAddr, bech32Prefix), keepers);
  storeHook(context, denom, contractAddr, keepers);
  context.emit(
    event("set_before_send_hook", [
      ["denom", denom],
      ["before_send_hook_address", contractAddr],
    ]),
  );
}
