import type * as wire from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { type AccessConfig, AccessType } from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/types.ts";
import { utf8 } from "../../../../platform/base/bytes.ts";
import { goJsonSyntaxError } from "../../../../platform/base/go-json-syntax.ts";
import { trimGoSpace } from "../../../../platform/base/text.ts";
import { parseAddress } from "../../runtime/address.ts";
import { areValidCoins, parseCoins } from "../../runtime/coins.ts";
import * as errors from "../../runtime/errors.ts";
import { MAX_CODE_BYTES } from "./code-store.ts";
import { ErrEmpty, ErrInvalid, ErrLimit } from "./keys.ts";
import type { Instantiation } from "./types.ts";

// Stateless checks, shared by several messages' `ValidateBasic`, which throw `ModuleError` for an invalid field.

const MAX_LABEL_BYTES = 128;
const MAX_SALT_BYTES = 64;
const MAX_PINNED_CODES = 50;

/** Creates the checks for address fields, which require the chain's bech32 prefix. */
export function createAddressChecks(bech32Prefix: string) {
  const requireAddress = (text: string, name: string): void => {
    errors.orThrowWith(ErrInvalid, name, () => parseAddress(bech32Prefix, text));
  };
  const requireAddresses = (addresses: readonly string[]): void => {
    if (addresses.length === 0) throw ErrEmpty();
    for (const [index, address] of addresses.entries()) {
      requireAddress(address, "address");
      if (addresses.indexOf(address) < index) throw ErrInvalid(`duplicate address: ${address}`);
    }
  };
  const requireAccess = (config: AccessConfig | undefined): void => {
    if (config === undefined) return;
    errors.wrapErrors("instantiate permission", () => {
      if (config.permission === AccessType.ACCESS_TYPE_UNSPECIFIED) throw ErrEmpty("type");
      if (config.permission === AccessType.ACCESS_TYPE_ANY_OF_ADDRESSES)
        errors.wrapErrors("addresses", () => requireAddresses(config.addresses));
    });
  };
  return { requireAddress, requireAddresses, requireAccess };
}

export function requireCode(code: Uint8Array): void {
  if (code.length === 0) throw errors.ErrInvalidRequest(`code bytes ${ErrEmpty("is required").message}`);
  if (code.length > MAX_CODE_BYTES) {
    const { message } = ErrLimit(`cannot be longer than ${MAX_CODE_BYTES} bytes`);
    throw errors.ErrInvalidRequest(`code bytes ${message}`);
  }
}

export function requireCodeId(codeId: bigint): void {
  if (codeId === 0n) throw errors.ErrInvalidRequest("code id is required");
}

export function requireLabel(label: string): void {
  if (label === "") throw ErrEmpty("label: is required");
  if (utf8(label).length > MAX_LABEL_BYTES)
    throw ErrLimit(`label: cannot be longer than ${MAX_LABEL_BYTES} characters`);
  if (label !== trimGoSpace(label)) throw ErrInvalid("label: label must not start/end with whitespaces");
  if (/[\p{C}\p{Z}]/u.test(label.replaceAll(" ", "")))
    throw ErrInvalid("label: label must have printable characters only");
}

export function requireSalt(salt: Uint8Array): void {
  if (salt.length === 0) throw ErrEmpty("salt: is required");
  if (salt.length > MAX_SALT_BYTES)
    throw ErrLimit(`salt: cannot be longer than ${MAX_SALT_BYTES} characters`);
}

export function requireFunds(funds: Parameters<typeof parseCoins>[0], name: string): void {
  if (!areValidCoins(parseCoins(funds))) throw errors.ErrInvalidCoins(name);
}

export function requireJson(message: Uint8Array): void {
  if (message.length === 0 || goJsonSyntaxError(message) !== undefined) throw ErrInvalid("payload msg");
}

export function requireCodeIds(codeIds: readonly bigint[]): void {
  if (codeIds.length === 0) throw ErrEmpty("code ids");
  if (codeIds.length > MAX_PINNED_CODES)
    throw ErrLimit(`code ids: total number of code ids is greater than ${MAX_PINNED_CODES}`);
  if (new Set(codeIds).size < codeIds.length) throw errors.ErrInvalidRequest("duplicate code ids");
}

/** A message that only the authority may send. */
export interface AuthorityMessage {
  readonly authority: string;
}

/** Throws sdk/4 unless the authority sent the message. */
export function requireAuthority(expected: string, message: AuthorityMessage): void {
  if (message.authority !== expected)
    throw errors.ErrUnauthorized(`invalid authority; expected ${expected}, got ${message.authority}`);
}

export function instantiation(
  message: Pick<wire.MsgInstantiateContract, "sender" | "admin" | "codeId" | "label" | "msg" | "funds">,
  authority: string,
): Instantiation {
  return {
    creator: message.sender,
    admin: message.admin,
    codeId: message.codeId,
    label: message.label,
    message: message.msg,
    funds: parseCoins(message.funds),
    isAuthority: message.sender === authority,
  };
}
