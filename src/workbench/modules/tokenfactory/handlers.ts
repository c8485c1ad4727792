import type { Metadata } from "../../../cosmos/proto/gen/cosmos/bank/v1beta1/bank.ts";
import type { Coin as WireCoin } from "../../../cosmos/proto/gen/cosmos/base/v1beta1/coin.ts";
import type { Params } from "../../../cosmos/proto/gen/osmosis/tokenfactory/params.ts";
import * as tx from "../../../cosmos/proto/gen/osmosis/tokenfactory/v1beta1/tx.ts";
import { utf8 } from "../../../platform/base/bytes.ts";
import { parseAddress } from "../../../localnet/chain/runtime/address.ts";
import * as coins from "../../../localnet/chain/runtime/coins.ts";
import { type Context, event, type MessageHandler } from "../../../localnet/chain/runtime/context.ts";
import * as errors from "../../../localnet/chain/runtime/errors.ts";
import { messageHandlers } from "../../../localnet/chain/runtime/handlers.ts";
import { checkUpdate, requireAddress } from "../../../localnet/chain/runtime/params-module.ts";
import * as denoms from "./denom.ts";
import { requireWhitelisted } from "./before-send.ts";
import * as keeper from "./keeper.ts";

/** Creates handlers for all of the module's messages. `module.ts` decodes the same messages when contracts send them as JSON. */
export function createHandlers(keepers: keeper.Keepers): readonly MessageHandler[] {
  return messageHandlers(tx.Msg, {
    CreateDenom: (context, message) => createDenom(context, message, keepers),
    Mint: (context, message) => mint(context, message, keepers),
    Burn: (context, message) => burn(context, message, keepers),
    ForceTransfer: (context, message) => forceTransfer(context, message, keepers),
    ChangeAdmin: (context, message) => changeAdmin(context, message, keepers),
    SetDenomMetadata: (context, message) => setDenomMetadata(context, message, keepers),
    SetBeforeSendHook: (context, message) => setBeforeSendHook(context, message, keepers),
    UpdateParams: keeper.moduleParams.update({
      authority: keepers.authority,
      signerError: errors.ErrInvalidRequest,
      check: checkUpdate(keepers.bech32Prefix, (params) => validateParams(params, keepers.bech32Prefix)),
    }),
  });
}

/** Validates the params in a `MsgUpdateParams`. Throws `ModuleError` with the same message as the Go module. */
function validateParams(params: Params, bech32Prefix: string): void {
  if (params.denomCreationFee.length > 0 !== (params.feeCollectorAddress !== ""))
    throw errors.unregisteredError("DenomCreationFee and FeeCollectorAddr must be both set or both unset");
  const fee = coins.parseCoins(params.denomCreationFee);
  if (!coins.areValidCoins(fee))
    throw errors.unregisteredError(
      `failed to validate DenomCreationFee: invalid denom creation fee: ${coins.formatCoins(fee)}`,
    );
  if (params.feeCollectorAddress !== "")
    requireAddress(
      bech32Prefix,
      params.feeCollectorAddress,
      "failed to validate FeeCollectorAddress: invalid fee collector address",
    );
  validateHooks(params, bech32Prefix);
}

function validateHooks({ whitelistedHooks }: Params, bech32Prefix: string): void {
  const seen = new Set<string>();
  for (const { codeId, denomCreator } of whitelistedHooks) {
    const hook = `code_id:${codeId} denom_creator:"${denomCreator}" `;
    if (seen.has(hook))
      throw errors.unregisteredError(
        `failed to validate WhitelistedHooks: duplicate whitelisted hook: ${hook}`,
      );
    seen.add(hook);
    requireAddress(
      bech32Prefix,
      denomCreator,
      "failed to validate WhitelistedHooks: invalid denom creator address",
    );
  }
}

export function createDenom(
  context: Context,
  message: tx.MsgCreateDenom,
  keepers: keeper.Keepers,
): tx.MsgCreateDenomResponse {
  const { sender, subdenom } = message;
  errors.wrapErrors("failed to validate MsgCreateDenom", () => {
    requireAccount(sender, "Invalid sender address", keepers);
    errors.wrapErrors(
      (error) => denoms.ErrInvalidDenom(error.message),
      () => denoms.tokenDenom(sender, subdenom),
    );
  });
  const newTokenDenom = keeper.createDenom(context, sender, subdenom, keepers);
  context.emit(
    event("create_denom", [
      ["creator", sender],
      ["new_token_denom", newTokenDenom],
    ]),
  );
  return { newTokenDenom };
}

/** Mints coins and sends them to `mintToAddress` or, if empty, to the admin. */
export function mint(context: Context, message: tx.MsgMint, keepers: keeper.Keepers): void {
  const { bech32Prefix, bank } = keepers;
  const coin = errors.wrapErrors("failed to validate MsgMint", () => amountOf(message, keepers));
  if (bank.metadata(context, coin.denom) === undefined)
    throw denoms.ErrDenomDoesNotExist(`denom: ${coin.denom}`);
  requireAdmin(context, coin.denom, message.sender);
  const recipient = message.mintToAddress === "" ? message.sender : message.mintToAddress;
  denoms.creatorOf(coin.denom, bech32Prefix);
  const to = keeper.parseAccount(recipient, bech32Prefix);
  requireOrdinary(context, [["minting to", to]], keepers);
  bank.mint(context, denoms.MODULE_NAME, [coin]);
  bank.sendFromModule(context, denoms.MODULE_NAME, to, [coin]);
  context.emit(
    event("tf_mint", [
      ["mint_to_address", recipient],
      ["amount", coins.formatCoin(coin)],
    ]),
  );
}

/** Burns coins from `burnFromAddress` or, if empty, from the admin. */
export function burn(context: Context, message: tx.MsgBurn, keepers: keeper.Keepers): void {
  const { bech32Prefix, bank, accounts } = keepers;
  const coin = errors.wrapErrors("failed to validate MsgBurn", () => amountOf(message, keepers));
  requireAdmin(context, coin.denom, message.sender);
  const owner = message.burnFromAddress === "" ? message.sender : message.burnFromAddress;
  // The deployed module looks up the address's characters as an account. The lookup finds no account, but costs gas.
  accounts.get(context, utf8(owner));
  denoms.creatorOf(coin.denom, bech32Prefix);
  const from = keeper.parseAccount(owner, bech32Prefix);
  requireOrdinary(context, [["burning from", from]], keepers);
  bank.sendToModule(context, from, denoms.MODULE_NAME, [coin]);
  bank.burn(context, denoms.MODULE_NAME, [coin]);
  context.emit(
    event("tf_burn", [
      ["burn_from_address", owner],
      ["amount", coins.formatCoin(coin)],
    ]),
  );
}

export function forceTransfer(context: Context, message: tx.MsgForceTransfer, keepers: keeper.Keepers): void {
  const { bech32Prefix, bank } = keepers;
  const { sender, transferFromAddress, transferToAddress, amount } = message;
  const coin = errors.wrapErrors("failed to validate MsgForceTransfer", () => {
    requireAccount(sender, "Invalid sender address", keepers);
    requireAccount(transferFromAddress, "Invalid address", keepers);
    requireAccount(transferToAddress, "Invalid address", keepers);
    return readCoin(amount);
  });
  requireAdmin(context, coin.denom, sender);
  denoms.creatorOf(coin.denom, bech32Prefix);
  const from = keeper.parseAccount(transferFromAddress, bech32Prefix);
  const to = keeper.parseAccount(transferToAddress, bech32Prefix);
  const ends = [
    ["force transfer from", from],
    ["force transfer to", to],
  ] as const;
  requireOrdinary(context, ends, keepers);
  bank.send(context, from, to, coins.sumCoins([coin]));
  context.emit(
    event("force_transfer", [
      ["transfer_from_address", transferFromAddress],
      ["transfer_to_address", transferToAddress],
      ["amount", coins.formatCoin(coin)],
    ]),
  );
}

function requireAdmin(context: Context, denom: string, sender: string): void {
  if (keeper.adminOf(context, denom) !== sender) throw denoms.ErrUnauthorized();
}

/** Creates an error with a gRPC status in its text instead of a registered code. */
function forbidden(action: string): Error {
  return errors.unregisteredError(`rpc error: code = Internal desc = ${action} is forbidden`);
}

/** Throws if one of the addresses belongs to a module or is the escrow account of a transfer channel. */
function requireOrdinary(
  context: Context,
  addresses: readonly (readonly [action: string, address: Uint8Array])[],
  keepers: keeper.Keepers,
): void {
  for (const [action, address] of addresses)
    if (keeper.isModuleAccount(context, address, keepers)) throw forbidden(`${action} module accounts`);
  for (const [action, address] of addresses)
    if (keeper.escrows.get(context, address) !== undefined) throw forbidden(`${action} IBC escrow accounts`);
}

export function changeAdmin(context: Context, message: tx.MsgChangeAdmin, keepers: keeper.Keepers): void {
  const { sender, denom, newAdmin } = message;
  errors.wrapErrors("failed to validate MsgChangeAdmin", () => {
    requireAccount(sender, "Invalid sender address", keepers);
    requireAccount(newAdmin, "Invalid address", keepers);
    denoms.creatorOf(denom, keepers.bech32Prefix);
  });
  const admin = keeper.adminOf(context, denom);
  if (sender !== admin) throw denoms.ErrUnauthorized(`need: ${admin}, received: ${sender}, denom: ${denom}`);
  // The deployed module reads the entry again before changing it, which costs gas.
  keeper.adminOf(context, denom);
  keeper.setAdmin(context, denom, newAdmin, keepers);
  context.emit(
    event("change_admin", [
      ["denom", denom],
      ["new_admin", newAdmin],
    ]),
  );
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

export function setDenomMetadata(
  context: Context,
  message: tx.MsgSetDenomMetadata,
  keepers: keeper.Keepers,
): void {
  const { sender, metadata = NO_METADATA } = message;
  errors.wrapErrors("failed to validate MsgSetDenomMetadata", () => {
    requireAccount(sender, "Invalid sender address", keepers);
    denoms.validateMetadata(metadata);
    denoms.creatorOf(metadata.base, keepers.bech32Prefix);
  });
  requireAdmin(context, metadata.base, sender);
  keepers.bank.setMetadata(context, metadata);
  context.emit(
    event("set_denom_metadata", [
      ["denom", metadata.base],
      ["denom_metadata", denoms.metadataText(metadata)],
    ]),
  );
}

/** Sets the hook: the contract to call before payments in a denomination. If the message's address is empty, removes the hook. */
export function setBeforeSendHook(
  context: Context,
  message: tx.MsgSetBeforeSendHook,
  keepers: keeper.Keepers,
): void {
  const { bech32Prefix } = keepers;
  const { sender, denom, contractAddr } = message;
  errors.wrapErrors("failed to validate MsgSetBeforeSendHook", () => {
    requireAccount(sender, "Invalid sender address", keepers);
    if (contractAddr !== "") requireAccount(contractAddr, "Invalid cosmwasm contract address", keepers);
    errors.wrapErrors(
      () => denoms.ErrInvalidDenom(),
      () => denoms.creatorOf(denom, bech32Prefix),
    );
  });
  requireAdmin(context, denom, sender);
  if (contractAddr !== "")
    requireWhitelisted(context, denom, keeper.parseAccount(contractAddr, bech32Prefix), keepers);
  keeper.setBeforeSendHook(context, denom, contractAddr, keepers);
  context.emit(
    event("set_before_send_hook", [
      ["denom", denom],
      ["before_send_hook_address", contractAddr],
    ]),
  );
}

function requireAccount(text: string, words: string, { bech32Prefix }: keeper.Keepers): void {
  errors.orThrow(
    () => parseAddress(bech32Prefix, text),
    (reason) => errors.ErrInvalidAddress(`${words} (${reason})`),
  );
}

/** Checks the sender and amount of MsgMint or MsgBurn, and returns the coin. */
function amountOf({ sender, amount }: tx.MsgMint | tx.MsgBurn, keepers: keeper.Keepers): coins.Coin {
  requireAccount(sender, "Invalid sender address", keepers);
  const coin = readCoin(amount);
  if (coin.amount === 0n) throw errors.ErrInvalidCoins(coins.formatCoin(coin));
  return coin;
}

/** Reads a coin, whose amount may be zero. As in Go, the error for an absent coin shows the coin as `<nil>`. */
function readCoin(amount: WireCoin | undefined): coins.Coin {
  if (amount === undefined) throw errors.ErrInvalidCoins("<nil>");
  const coin = { denom: amount.denom, amount: coins.parseWireInt(amount.amount) };
  if (!coins.isDenom(coin.denom) || coin.amount < 0n) throw errors.ErrInvalidCoins(coins.formatCoin(coin));
  return coin;
}
