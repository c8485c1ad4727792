import { errorsOf, unregisteredError, orThrow } from "../../../localnet/chain/runtime/errors.ts";
import { formatAddress, parseAddress } from "../../../localnet/chain/runtime/address.ts";
import { isDenom } from "../../../localnet/chain/runtime/coins.ts";
import type { DenomUnit, Metadata } from "../../../cosmos/proto/gen/cosmos/bank/v1beta1/bank.ts";
import { utf8 } from "../../../platform/base/bytes.ts";
import { trimGoSpace } from "../../../platform/base/text.ts";

/** Name of the module, of its store and account, and of its errors' codespace. */
export const MODULE_NAME = "tokenfactory";

const MAX_SUBDENOM_BYTES = 44;
const MAX_CREATOR_BYTES = 75;

// Errors in the codespace "tokenfactory", under the same names as in Go (x/tokenfactory v6.0.3 types/errors.go).
const register = errorsOf(MODULE_NAME);
export const ErrDenomExists = register(
  2,
  "attempting to create a denom that already exists (has bank metadata)",
);
export const ErrUnauthorized = register(3, "unauthorized account");
export const ErrInvalidDenom = register(4, "invalid denom");
const ErrInvalidCreator = register(5, "invalid creator");
const ErrSubdenomTooLong = register(8, `subdenom too long, max length is ${MAX_SUBDENOM_BYTES} bytes`);
const ErrCreatorTooLong = register(9, `creator too long, max length is ${MAX_CREATOR_BYTES} bytes`);
export const ErrDenomDoesNotExist = register(10, "denom does not exist");
export const ErrTrackBeforeSendOutOfGas = register(12, "gas meter hit maximum limit");
export const ErrBeforeSendHookNotWhitelisted = register(14, "beforeSendHook is not whitelisted");

/** Prefix of the module's denominations, which have the format `factory/<creator>/<subdenom>`. */
export const DENOM_PREFIX = "factory";

/** Checks a denomination's parts and returns the denomination (`GetTokenDenom`). Throws `ModuleError`. */
export function tokenDenom(creator: string, subdenom: string): string {
  if (Buffer.byteLength(subdenom) > MAX_SUBDENOM_BYTES) throw ErrSubdenomTooLong();
  if (Buffer.byteLength(creator) > MAX_CREATOR_BYTES) throw ErrCreatorTooLong();
  if (creator.includes("/")) throw ErrInvalidCreator();
  const denom = `${DENOM_PREFIX}/${creator}/${subdenom}`;
  requireDenom(denom);
  return denom;
}

/**
 * Returns the creator's address from a denomination (`DeconstructDenom`). Throws `ModuleError` for a denomination that does not
 * belong to this module.
 */
export function creatorOf(denom: string, bech32Prefix: string): string {
  requireDenom(denom);
  const parts = denom.split("/");
  const [prefix = "", creator = ""] = parts;
  if (parts.length < 3) throw ErrInvalidDenom(`not enough parts of denom ${denom}`);
  if (prefix !== DENOM_PREFIX)
    throw ErrInvalidDenom(`denom prefix is incorrect. Is: ${prefix}.  Should be: ${DENOM_PREFIX}`);
  return orThrow(
    () => formatAddress(bech32Prefix, parseAddress(bech32Prefix, creator)),
    (reason) => ErrInvalidDenom(`Invalid creator address (${reason})`),
  );
}

function requireDenom(denom: string): void {
  if (!isDenom(denom)) throw unregisteredError(`invalid denom: ${denom}`);
}

/** Checks a denomination's metadata like `Metadata.Validate` in the SDK. Throws `ModuleError`. */
export function validateMetadata(metadata: Metadata): void {
  const { name, symbol, base, display, denomUnits } = metadata;
  if (trimGoSpace(name) === "") throw unregisteredError("name field cannot be blank");
  if (trimGoSpace(symbol) === "") throw unregisteredError("symbol field cannot be blank");
  requireMetadataDenom(base, "invalid metadata base denom");
  requireMetadataDenom(display, "invalid metadata display denom");
  const seen = new Set<string>();
  denomUnits.forEach((unit, index) => {
    checkOrder(unit, denomUnits[index - 1], base);
    if (seen.has(unit.denom)) throw unregisteredError(`duplicate denomination unit ${unit.denom}`);
    checkUnit(unit);
    seen.add(unit.denom);
  });
  if (!seen.has(display))
    throw unregisteredError(`metadata must contain a denomination unit with display denom '${display}'`);
}

/** Checks that the first unit is the base, and that each further unit has a greater exponent than the previous unit. */
function checkOrder({ denom, exponent }: DenomUnit, previous: DenomUnit | undefined, base: string): void {
  if (previous !== undefined) {
    if (previous.exponent >= exponent)
      throw unregisteredError("denom units should be sorted asc by exponent");
    return;
  }
  if (denom !== base)
    throw unregisteredError(`metadata's first denomination unit must be the one with base denom '${base}'`);
  if (exponent !== 0) throw unregisteredError(`the exponent for base denomination unit ${base} must be 0`);
}

function checkUnit({ denom, aliases }: DenomUnit): void {
  requireMetadataDenom(denom, "invalid denom unit");
  const seen = new Set<string>();
  for (const alias of aliases) {
    if (seen.has(alias)) throw unregisteredError(`duplicate denomination unit alias ${alias}`);
    if (trimGoSpace(alias) === "") throw unregisteredError(`alias for denom unit ${denom} cannot be blank`);
    seen.add(alias);
  }
}

function requireMetadataDenom(denom: string, words: string): void {
  if (!isDenom(denom)) throw unregisteredError(`${words}: invalid denom: ${denom}`);
}

/** Formats metadata like the Go message's `String()`: protobuf text on one line, without empty fields. */
export function metadataText(metadata: Metadata): string {
  const units = metadata.denomUnits.map(
    ({ denom, exponent, aliases }) =>
      `denom_units:<${field("denom", denom)}${exponent === 0 ? "" : `exponent:${exponent} `}${aliases
        .map((alias) => `aliases:${quoted(alias)} `)
        .join("")}> `,
  );
  return [
    field("description", metadata.description),
    ...units,
    field("base", metadata.base),
    field("display", metadata.display),
    field("name", metadata.name),
    field("symbol", metadata.symbol),
    field("uri", metadata.uri),
    field("uri_hash", metadata.uriHash),
  ].join("");
}

function field(name: string, value: string): string {
  return value === "" ? "" : `${name}:${quoted(value)} `;
}

const ESCAPES: Readonly<Record<number, string>> = {
  0x0a: "\\n",
  0x0d: "\\r",
  0x09: "\\t",
  0x22: '\\"',
  0x5c: "\\\\",
};

/** Quotes a string as in protobuf text format. Each byte that is not printable ASCII becomes three octal digits. */
function quoted(value: string): string {
  const bytes = Array.from(utf8(value), (byte) => {
    const isPrintable = byte >= 0x20 && byte < 0x7f;
    const plain = isPrintable ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, "0")}`;
    return ESCAPES[byte] ?? plain;
  });
  return `"${bytes.join("")}"`;
}
