import { DenomAuthorityMetadata } from "../../../cosmos/proto/gen/osmosis/tokenfactory/v1beta1/authorityMetadata.ts";
import { Params } from "../../../cosmos/proto/gen/osmosis/tokenfactory/params.ts";
import { compareBytes, utf8 } from "../../../platform/base/bytes.ts";
import type { ChainParts } from "../../../localnet/chain/module-set.ts";
import { moduleAddress, parseAddress } from "../../../localnet/chain/runtime/address.ts";
import { parseCoins } from "../../../localnet/chain/runtime/coins.ts";
import type { Context } from "../../../localnet/chain/runtime/context.ts";
import { unregisteredError, wrapErrors, orThrow } from "../../../localnet/chain/runtime/errors.ts";
import { defineParams, type ModuleParams } from "../../../localnet/chain/runtime/params.ts";
import {
  bytesCodec,
  type Codec,
  createMap,
  mappedCodec,
  messageCodec,
  textCodec,
} from "../../../localnet/chain/store/collections.ts";
import { creatorOf, tokenDenom, ErrDenomExists, MODULE_NAME } from "./denom.ts";

/** Admin address of each denomination, stored under `denoms|<denom>|authoritymetadata`. */
const admins = createMap(
  MODULE_NAME,
  utf8("denoms|"),
  endingCodec("|authoritymetadata"),
  messageCodec<DenomAuthorityMetadata>(DenomAuthorityMetadata),
);

/** Address of the contract to call before payments in a denomination, stored under `denoms|<denom>|beforesendhook`. */
const hooks = createMap(MODULE_NAME, utf8("denoms|"), endingCodec("|beforesendhook"), textCodec);

/** Index of the denominations by creator, stored under `creator|<creator>|<denom>`. */
const denoms = createMap(MODULE_NAME, utf8("creator|"), textCodec, textCodec);

/** Escrow accounts of transfer channels, whose coins admins cannot move, stored as `0x03 | address` with a zero byte as value. */
export const escrows = createMap(MODULE_NAME, Uint8Array.of(3), bytesCodec, bytesCodec);

/** Creates a codec for keys in which `ending` follows the denomination. */
function endingCodec(ending: string): Codec<string> {
  return mappedCodec(
    textCodec,
    (key) => key.slice(0, -ending.length),
    (denom) => denom + ending,
  );
}

/**
 * `denom_creation_fee` is the fee for a new denomination, paid to `fee_collector_address`, and `denom_creation_gas_consume` is its
 * gas. `whitelisted_hooks` lists the codes that are allowed as hooks, each for one creator's denominations. As in the deployed
 * module, genesis does not check the params.
 */
export const moduleParams: ModuleParams<Params> = defineParams({
  store: MODULE_NAME,
  key: Uint8Array.of(2),
  type: Params,
  defaults: {
    denomCreationFee: [],
    denomCreationGasConsume: 0n,
    feeCollectorAddress: "",
    whitelistedHooks: [],
  },
});

/** The module's options, and the other modules' keepers that it uses. */
export interface Keepers extends Pick<ChainParts, "bank" | "accounts" | "contracts"> {
  readonly bech32Prefix: string;
  /** Bech32 address of the account that may change the params. */
  readonly authority: string;
}

/** Returns a denomination's admin, or "" if the denomination has no admin or is unknown. */
export function adminOf(context: Context, denom: string): string {
  return admins.get(context, denom)?.Admin ?? "";
}

/** Stores a denomination's admin, or "" for no admin. Throws `ModuleError` if the address is invalid. */
export function setAdmin(context: Context, denom: string, admin: string, { bech32Prefix }: Keepers): void {
  if (admin !== "") parseAccount(admin, bech32Prefix);
  admins.set(context, denom, { Admin: admin });
}

/** Returns the contract to call before payments in a denomination, or an empty string if there is none. */
export function beforeSendHook(context: Context, denom: string): string {
  return hooks.get(context, denom) ?? "";
}

/** Stores a denomination's hook, or removes it if the address is empty. Throws `ModuleError` for an invalid denomination or address. */
export function setBeforeSendHook(
  context: Context,
  denom: string,
  contract: string,
  { bech32Prefix }: Keepers,
): void {
  creatorOf(denom, bech32Prefix);
  if (contract === "") return hooks.delete(context, denom);
  parseAccount(contract, bech32Prefix);
  hooks.set(context, denom, contract);
}

/** Returns all denominations, or one creator's denominations, sorted by creator and name. */
export function listDenoms(context: Context, creator?: string): string[] {
  const within = utf8(creator === undefined ? "" : `${creator}|`);
  return Array.from(denoms.entries(context, within), ([, denom]) => denom);
}

/** Compares the address with each module's account in turn. As in Go, the comparison creates missing module accounts. */
export function isModuleAccount(context: Context, address: Uint8Array, { accounts }: Keepers): boolean {
  return accounts.moduleNames.some((name) => {
    accounts.moduleAccount(context, name);
    return compareBytes(moduleAddress(name), address) === 0;
  });
}

/** Creates a denomination and returns its name. The creator pays the creation fee and becomes the admin. Throws `ModuleError`. */
export function createDenom(context: Context, creator: string, subdenom: string, keepers: Keepers): string {
  // The deployed module's error has the same text.
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

/** Stores a denomination with its creator as admin, and adds bank metadata if there is none. */
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
  denoms.set(context, `${creator}|${denom}`, denom);
}

/** Parses an address. If it is invalid, throws `ModuleError` with the SDK's message. */
export function parseAccount(text: string, bech32Prefix: string): Uint8Array {
  return orThrow(() => parseAddress(bech32Prefix, text), unregisteredError);
}
