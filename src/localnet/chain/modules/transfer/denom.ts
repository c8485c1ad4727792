import { Params } from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/transfer.ts";
import { utf8, fromHex, sha256, upperHex } from "../../../../platform/base/bytes.ts";
import { errorsOf, unregisteredError, wrapErrors } from "../../runtime/errors.ts";
import { defineParams, type ModuleParams } from "../../runtime/params.ts";
import { trimGoSpace } from "../../../../platform/base/text.ts";
import type { DenomTrace } from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/denomtrace.ts";
import { isNumberedId, validateChannelId, validatePortId } from "../ibc/host/identifiers.ts";
import type { ChannelEndpoint } from "../ibc/host/packet.ts";

/** Name of the module, its store and its account, and the error codespace. */
export const MODULE_NAME = "transfer";

export const PORT_ID = "transfer";

/** The version of the module's channels (ICS-20). */
export const VERSION = "ics20-1";

/** Parameters that allow outgoing (`sendEnabled`) and incoming (`receiveEnabled`) transfers, both true by default. */
export const moduleParams: ModuleParams<Params> = defineParams({
  store: MODULE_NAME,
  key: utf8("params"),
  type: Params,
  defaults: { sendEnabled: true, receiveEnabled: true },
});

const register = errorsOf(MODULE_NAME);
const ErrInvalidDenomForTransfer = register(3, "invalid denomination for cross-chain transfer");
export const ErrInvalidVersion = register(4, "invalid ICS20 version");
export const ErrInvalidAmount = register(5, "invalid token amount");
export const ErrTraceNotFound = register(6, "denomination trace not found");
export const ErrSendDisabled = register(7, "fungible token transfers from this chain are disabled");
export const ErrReceiveDisabled = register(8, "fungible token transfers to this chain are disabled");
export const ErrInvalidMemo = register(11, "invalid memo");
export const ErrInvalidPort = errorsOf("port")(4, "invalid port");

const VOUCHER_PREFIX = "ibc/";
const HASH_BYTES = 32;

/**
 * Splits a full denomination, for instance "transfer/channel-0/untrn", into its channel path and base denomination. Only names of
 * the form "channel-N" with a 64-bit number are recognized as channels, so any other denomination with slashes stays unchanged.
 */
export function parseTrace(denom: string): DenomTrace {
  const items = denom.split("/");
  let end = 0;
  while (items.length > 2 && isNumberedId(items[end + 1] ?? "", "channel-")) end += 2;
  return { path: items.slice(0, end).join("/"), baseDenom: items.slice(end).join("/") };
}

export function fullDenom({ path, baseDenom }: DenomTrace): string {
  return path === "" ? baseDenom : `${path}/${baseDenom}`;
}

/** Returns the SHA-256 hash of a trace's full denomination, such as `transfer/channel-0/uatom`. */
export function traceHash(trace: DenomTrace): Uint8Array {
  return sha256(utf8(fullDenom(trace)));
}

/** Returns a trace's denomination on this chain: "ibc/HASH" for a voucher, or the base denomination for a native coin. */
export function localDenom(trace: DenomTrace): string {
  return trace.path === "" ? trace.baseDenom : VOUCHER_PREFIX + upperHex(traceHash(trace));
}

/** Returns the hash from "ibc/HASH", or undefined for any other denomination. */
export function hashOfVoucher(denom: string): string | undefined {
  return denom.startsWith(VOUCHER_PREFIX) ? denom.slice(VOUCHER_PREFIX.length) : undefined;
}

/** Returns the prefix that a channel end adds to received denominations. */
export function channelPrefix({ portId, channelId }: ChannelEndpoint): string {
  return `${portId}/${channelId}/`;
}

/** Returns the denomination that a packet's coins have on the receiving chain. */
export function receivedDenom(
  { source, destination }: { readonly source: ChannelEndpoint; readonly destination: ChannelEndpoint },
  denom: string,
): string {
  const prefix = channelPrefix(source);
  const full = denom.startsWith(prefix) ? denom.slice(prefix.length) : channelPrefix(destination) + denom;
  return localDenom(parseTrace(full));
}

/** Parses a trace's hash in upper or lower case. Throws an unregistered error with Go's message. */
export function parseTraceHash(text: string): Uint8Array {
  const invalid = /[^0-9a-fA-F]/u.exec(text)?.[0];
  if (invalid !== undefined) {
    const code = (invalid.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    throw unregisteredError(`encoding/hex: invalid byte: U+${code} '${invalid}'`);
  }
  if (text.length % 2 !== 0) throw unregisteredError("encoding/hex: odd length hex string");
  const hash = fromHex(text);
  if (hash.length > 0 && hash.length !== HASH_BYTES)
    throw unregisteredError(`expected size to be ${HASH_BYTES} bytes, got ${hash.length} bytes`);
  return hash;
}

/**
 * Checks the denomination in a message (ibc-go `ValidateIBCDenom`). The caller must have checked the coin. Throws `ModuleError`.
 */
export function validateSentDenom(denom: string): void {
  const hash = denom === "ibc" ? "" : hashOfVoucher(denom);
  if (hash === undefined) return;
  if (trimGoSpace(hash) === "") {
    throw ErrInvalidDenomForTransfer(
      `denomination should be prefixed with the format 'ibc/{hash(trace + "/" + ${denom})}'`,
    );
  }
  try {
    parseTraceHash(hash);
  } catch (error) {
    throw unregisteredError(
      `invalid denom trace hash ${hash}: ${error instanceof Error ? error.message : "not hex"}`,
    );
  }
}

/** Checks the denomination in a packet (ibc-go `ValidatePrefixedDenom`). Throws `ModuleError`. */
export function validateReceivedDenom(denom: string): void {
  // ibc-go takes the last name as the base denomination, even in "transfer/channel-0/transfer/channel-1", where the last name
  // belongs to the path.
  if (trimGoSpace(denom.slice(denom.lastIndexOf("/") + 1)) === "")
    throw ErrInvalidDenomForTransfer("base denomination cannot be blank");
  validatePath(parseTrace(denom));
}

/** Throws `ModuleError` if a trace has an invalid path or a blank base denomination (ibc-go `DenomTrace.Validate`). */
export function validateTrace(trace: DenomTrace): void {
  const isOwn = trace.path === "" && trace.baseDenom !== "";
  if (!isOwn && trimGoSpace(trace.baseDenom) === "")
    throw unregisteredError("base denomination cannot be blank");
  validatePath(trace);
}

/** Checks that a path consists of port and channel pairs. Throws `ModuleError`. */
export function validatePath({ path }: DenomTrace): void {
  if (path === "") return;
  const identifiers = path.split("/");
  if (identifiers.length % 2 !== 0)
    throw unregisteredError(
      `trace info must come in pairs of port and channel identifiers '{portID}/{channelID}', got the identifiers: [${identifiers.join(" ")}]`,
    );
  for (const [index, identifier] of identifiers.entries()) {
    const [name, validate] =
      index % 2 === 0 ? (["port", validatePortId] as const) : (["channel", validateChannelId] as const);
    wrapErrors(`invalid ${name} ID at position ${index - (index % 2)}`, () => validate(identifier));
  }
}
