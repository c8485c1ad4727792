import type { Metadata } from "../../../cosmos/proto/gen/cosmos/bank/v1beta1/bank.ts";
import { DenomAuthorityMetadata } from "../../../cosmos/proto/gen/osmosis/tokenfactory/v1beta1/authorityMetadata.ts";
import { compareBytes, concat, fromUtf8, prefixEnd, utf8 } from "../../../platform/base/bytes.ts";
import { moduleAddress, parseAddress } from "../../../localnet/chain/runtime/address.ts";
import { type Coin, parseCoins } from "../../../localnet/chain/runtime/coins.ts";
import type { Context } from "../../../localnet/chain/runtime/context.ts";
import { unregisteredError, wrapErrors, orThrow } from "../../../localnet/chain/runtime/errors.ts";
import { creatorOf, tokenDenom } from "./denom.ts";
import {
  authorityKey,
  CREATORS_PREFIX,
  denomsOf,
  ErrDenomExists,
  ESCROW_PREFIX,
  hookKey,
  MODULE_NAME,
} from "./keys.ts";
import { moduleParams } from "./params.ts";

export interface TokenFactoryOptions {
  readonly bech32Prefix: string;
  /** Bech32 address of the account that may change the params. */
  readonly authority: string;
}

interface BankKeeper {
  readonly send: (context: Context, from: Uint8Array, to: Uint8Array, coins: readonly Coin[]) => void;
  readonly sendToModule: (context: Context, from: Uint8Array, module: string, coins: readonly Coin[]) => void;
  readonly sendFromModule: (context: Context, module: string, to: Uint8Array, coins: readonly Coin[]) => void;
  readonly mint: (context: Context, module: string, coins: readonly Coin[]) => void;
  readonly burn: (context: Context, module: string, coins: readonly Coin[]) => void;
  readonly hasSupply: (context: Context, denom: string) => boolean;
  readonly metadata: (context: Context, denom: string) => Metadata | undefined;
  readonly setMetadata: (context: Context, metadata: Metadata) => void;
}

interface AccountKeeper {
  readonly get: (context: Context, address: Uint8Array) => unknown;
  /** Returns a module's account. Creates it if it does not exist. */
  readonly moduleAccount: (context: Context, name: string) => unknown;
  /** In alphabetical order. */
  readonly moduleNames: readonly string[];
}

interface ContractKeeper {
  /** Returns a contract's code id; undefined if the contract does not exist. */
  readonly codeOf: (context: Context, address: Uint8Array) => bigint | undefined;
  /** Calls a contract's sudo entry point with JSON text. Throws `ModuleError` if the contract fails. */
  readonly sudo: (context: Context, address: string, message: string) => void;
}

export interface TokenFactoryDeps {
  readonly bank: BankKeeper;
  readonly accounts: AccountKeeper;
  readonly contracts: ContractKeeper;
}

/** The options, and the keepers of other modules. */
export interface Keepers extends TokenFactoryOptions, TokenFactoryDeps {}

/** Returns a denomination's admin; empty if it has no admin or is unknown. */
export function adminOf(context: Context, denom: string): string {
  const bytes = context.store(MODULE_NAME).get(authorityKey(denom));
  return bytes === undefined ? "" : DenomAuthorityMetadata.decode(bytes).Admin;
}

/** Stores a denomination's admin; empty means no admin. Throws `ModuleError` if the address is invalid. */
export function setAdmin(context: Context, denom: string, admin: string, { bech32Prefix }: Keepers): void {
  if (admin !== "") parseAccount(admin, bech32Prefix);
  const value = DenomAuthorityMetadata.encode({ Admin: admin }).finish();
  context.store(MODULE_NAME).set(authorityKey(denom), value);
}

/** Returns the contract that is called before payments in a denomination; empty without such a contract. */
export function beforeSendHook(context: Context, denom: string): string {
  const bytes = context.store(MODULE_NAME).get(hookKey(denom));
  return bytes === undefined ? "" : fromUtf8(bytes);
}

/** Stores the hook for one of this module's denominations. An empty address removes it. Throws `ModuleError`. */
export function setBeforeSendHook(
  context: Context,
  denom: string,
  contract: string,
  { bech32Prefix }: Keepers,
): void {
  creatorOf(denom, bech32Prefix);
  if (contract === "") {
    context.store(MODULE_NAME).delete(hookKey(denom));
    return;
  }
  parseAccount(contract, bech32Prefix);
  context.store(MODULE_NAME).set(hookKey(denom), utf8(contract));
}

/** Returns a creator's denominations, sorted by name. */
export function denomsFromCreator(context: Context, creator: string): string[] {
  const prefix = denomsOf(creator);
  const entries = context.store(MODULE_NAME).iterate(prefix, prefixEnd(prefix));
  return Array.from(entries, ([key]) => fromUtf8(key.subarray(prefix.length)));
}

/** Returns all denominations, sorted by creator and name. */
export function allDenoms(context: Context): string[] {
  const entries = context.store(MODULE_NAME).iterate(CREATORS_PREFIX, prefixEnd(CREATORS_PREFIX));
  return Array.from(entries, ([, value]) => fromUtf8(value));
}

/** Records a transfer channel's escrow account, so that admins cannot reach its coins. */
export function storeEscrowAddress(context: Context, address: Uint8Array): void {
  context.store(MODULE_NAME).set(concat(ESCROW_PREFIX, address), Uint8Array.of(0));
}

export function isEscrowAddress(context: Context, address: Uint8Array): boolean {
  return context.store(MODULE_NAME).get(concat(ESCROW_PREFIX, address)) !== undefined;
}

/** Compares the address with each module account in turn. As in Go, this creates module accounts that do not exist yet. */
export function isModuleAccount(context: Context, address: Uint8Array, { accounts }: Keepers): boolean {
  return accounts.moduleNames.some((name) => {
    accounts.moduleAccount(context, name);
    return compareBytes(moduleAddress(name), address) === 0;
  });
}

/** Creates a denomination. The creator pays the fee and the gas and becomes its admin. Returns its name. Throws `ModuleError`. */
export function createDenom(context: Context, creator: string, subdenom: string, keepers: Keepers): string {
  // The text equals the deployed module's.
  if (keepers.bank.hasSupply(context, subdenom))
    throw unregisteredError(
      "temporary error until IBC bug is sorted out, can't create subdenoms that are the same as a native denom",
    );
  const denom = tokenDenom(creator, subdenom);
  if (keepers.bank.metadata(context, denom) !== undefined) throw ErrDenomExists();
  chargeForDenom(context, creator, keepers);
  addDenom(context, creator, denom, keepers);
  return denom;
}

function chargeForDenom(context: Context, creator: string, { bank, bech32Prefix }: Keepers): void {
  const { denomCreationFee, denomCreationGasConsume, feeCollectorAddress } = moduleParams.get(context);
  if (denomCreationFee.length > 0) {
    const from = parseAccount(creator, bech32Prefix);
    const to = wrapErrors(
      (error) => error.wrap(`wrong fee collector address: ${error.message}`),
      () => parseAccount(feeCollectorAddress, bech32Prefix),
    );
    wrapErrors("unable to send coins to fee collector", () =>
      bank.send(context, from, to, parseCoins(denomCreationFee)),
    );
  }
  if (denomCreationGasConsume !== 0n)
    context.gas.consume(denomCreationGasConsume, "consume denom creation gas");
}

/** Stores a denomination with its creator as the admin. Adds bank metadata unless some already exist. */
export function addDenom(context: Context, creator: string, denom: string, keepers: Keepers): void {
  if (keepers.bank.metadata(context, denom) === undefined)
    keepers.bank.setMetadata(context, {
      description: "",
      denomUnits: [{ denom, exponent: 0, aliases: [] }],
      base: denom,
      display: "",
      name: "",
      symbol: "",
      uri: "",
      uriHash: "",
    });
  setAdmin(context, denom, creator, keepers);
  context.store(MODULE_NAME).set(concat(denomsOf(creator), utf8(denom)), utf8(denom));
}

/** Throws `ModuleError` with the SDK's text. */
export function parseAccount(text: string, bech32Prefix: string): Uint8Array {
  return orThrow(
    () => parseAddress(bech32Prefix, text),
    (reason) => unregisteredError(reason),
  );
}
