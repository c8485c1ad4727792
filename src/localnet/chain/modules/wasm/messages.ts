import type * as wire from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { type AccessConfig, AccessType } from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/types.ts";
import { utf8 } from "../../../../platform/base/bytes.ts";
import { goJsonSyntaxError } from "../../../../platform/base/go-json-syntax.ts";
import { trimGoSpace } from "../../../../platform/base/text.ts";
import { parseAddress } from "../../runtime/address.ts";
import { areValidCoins, parseCoins } from "../../runtime/coins.ts";
import {
  ErrInvalidCoins,
  ErrInvalidRequest,
  ModuleError,
  unregisteredError,
  orThrow,
} from "../../runtime/errors.ts";
import { MAX_CODE_BYTES } from "./code-store.ts";
import { ErrEmpty, ErrInvalid, ErrLimit } from "./keys.ts";

const MAX_LABEL_BYTES = 128;
const MAX_SALT_BYTES = 64;
const MAX_PINNED_CODES = 50;

/** Creates the stateless checks of messages, in the order of wasmd's `ValidateBasic`. They throw `ModuleError`. */
export function createValidators({ bech32Prefix }: { readonly bech32Prefix: string }) {
  const address = (text: string, name: string): void => requireAddress(bech32Prefix, text, name);
  const access = (config: AccessConfig | undefined): void => {
    if (config !== undefined) requireAccess(config, (text) => parseAddress(bech32Prefix, text));
  };
  const instantiation = (message: Omit<wire.MsgInstantiateContract, "sender" | "codeId">): void => {
    requireLabel(message.label);
    requireFunds(message.funds, "funds");
    if (message.admin !== "") address(message.admin, "admin");
    requireJson(message.msg);
  };
  return {
    storeCode: ({ sender, wasmByteCode, instantiatePermission }: wire.MsgStoreCode): void => {
      plainAddress(bech32Prefix, sender);
      requireCode(wasmByteCode);
      access(instantiatePermission);
    },
    instantiate: (message: wire.MsgInstantiateContract): void => {
      address(message.sender, "sender");
      requireCodeId(message.codeId);
      instantiation(message);
    },
    instantiate2: (message: wire.MsgInstantiateContract2): void => {
      address(message.sender, "sender");
      requireCodeId(message.codeId);
      instantiation(message);
      requireSalt(message.salt);
    },
    execute: (message: wire.MsgExecuteContract): void => {
      address(message.sender, "sender");
      address(message.contract, "contract");
      requireFunds(message.funds, "sentFunds");
      requireJson(message.msg);
    },
    migrate: (message: wire.MsgMigrateContract): void => {
      requireCodeId(message.codeId);
      address(message.sender, "sender");
      address(message.contract, "contract");
      requireJson(message.msg);
    },
    updateAdmin: (message: wire.MsgUpdateAdmin): void => {
      address(message.sender, "sender");
      address(message.contract, "contract");
      address(message.newAdmin, "new admin");
      if (message.sender.toLowerCase() === message.newAdmin.toLowerCase())
        throw ErrInvalidRequest("new admin is the same as the old");
    },
    clearAdmin: (message: wire.MsgClearAdmin): void => {
      address(message.sender, "sender");
      address(message.contract, "contract");
    },
    updateLabel: (message: wire.MsgUpdateContractLabel): void => {
      address(message.sender, "sender");
      requireLabel(message.newLabel);
      address(message.contract, "contract");
    },
    updateInstantiateConfig: (message: wire.MsgUpdateInstantiateConfig): void => {
      address(message.sender, "sender");
      requireCodeId(message.codeId);
      if (message.newInstantiatePermission === undefined)
        throw ErrInvalidRequest("instantiate permission is required");
      access(message.newInstantiatePermission);
    },
    pinCodes: (message: wire.MsgPinCodes): void => {
      address(message.authority, "authority");
      requireCodeIds(message.codeIds);
    },
    sudo: (message: wire.MsgSudoContract): void => {
      address(message.authority, "authority");
      address(message.contract, "contract");
      requireJson(message.msg);
    },
    updateParams: (message: wire.MsgUpdateParams): void => address(message.authority, "authority"),
    storeAndInstantiate: (message: wire.MsgStoreAndInstantiateContract): void => {
      address(message.authority, "authority");
      requireLabel(message.label);
      requireFunds(message.funds, "funds");
      if (message.admin !== "") address(message.admin, "admin");
      requireCode(message.wasmByteCode);
      access(message.instantiatePermission);
      requireJson(message.msg);
    },
    storeAndMigrate: (message: wire.MsgStoreAndMigrateContract): void => {
      address(message.authority, "authority");
      address(message.contract, "contract");
      requireCode(message.wasmByteCode);
      access(message.instantiatePermission);
      requireJson(message.msg);
    },
    uploadAddresses: (message: wire.MsgAddCodeUploadParamsAddresses): void => {
      address(message.authority, "authority");
      requireAddresses(message.addresses, (text) => parseAddress(bech32Prefix, text));
    },
  };
}

/** Checks an address. wasmd returns an unregistered error here. */
function plainAddress(prefix: string, text: string): void {
  orThrow(
    () => parseAddress(prefix, text),
    (reason) => unregisteredError(reason),
  );
}

function requireAddress(prefix: string, text: string, name: string): void {
  orThrow(
    () => parseAddress(prefix, text),
    (reason) => ErrInvalid(`${name}: ${reason}`),
  );
}

function requireCode(code: Uint8Array): void {
  if (code.length === 0) throw ErrInvalidRequest(`code bytes ${ErrEmpty("is required").message}`);
  if (code.length > MAX_CODE_BYTES) {
    const { message } = ErrLimit(`cannot be longer than ${MAX_CODE_BYTES} bytes`);
    throw ErrInvalidRequest(`code bytes ${message}`);
  }
}

function requireCodeId(codeId: bigint): void {
  if (codeId === 0n) throw ErrInvalidRequest("code id is required");
}

function requireLabel(label: string): void {
  if (label === "") throw ErrEmpty("label: is required");
  if (utf8(label).length > MAX_LABEL_BYTES)
    throw ErrLimit(`label: cannot be longer than ${MAX_LABEL_BYTES} characters`);
  if (label !== trimGoSpace(label)) throw ErrInvalid("label: label must not start/end with whitespaces");
  if (/[\p{C}\p{Z}]/u.test(label.replaceAll(" ", "")))
    throw ErrInvalid("label: label must have printable characters only");
}

function requireSalt(salt: Uint8Array): void {
  if (salt.length === 0) throw ErrEmpty("salt: is required");
  if (salt.length > MAX_SALT_BYTES)
    throw ErrLimit(`salt: cannot be longer than ${MAX_SALT_BYTES} characters`);
}

function requireFunds(funds: Parameters<typeof parseCoins>[0], name: string): void {
  if (!areValidCoins(parseCoins(funds))) throw ErrInvalidCoins(name);
}

function requireJson(message: Uint8Array): void {
  if (message.length === 0 || goJsonSyntaxError(message) !== undefined) throw ErrInvalid("payload msg");
}

function requireCodeIds(codeIds: readonly bigint[]): void {
  if (codeIds.length === 0) throw ErrEmpty("code ids");
  if (codeIds.length > MAX_PINNED_CODES)
    throw ErrLimit(`code ids: total number of code ids is greater than ${MAX_PINNED_CODES}`);
  if (new Set(codeIds).size < codeIds.length) throw ErrInvalidRequest("duplicate code ids");
}

type ParseAddress = (text: string) => unknown;

function requireAccess({ permission, addresses }: AccessConfig, parse: ParseAddress): void {
  if (permission === AccessType.ACCESS_TYPE_UNSPECIFIED)
    throw ErrEmpty("type").wrap("instantiate permission");
  if (permission !== AccessType.ACCESS_TYPE_ANY_OF_ADDRESSES) return;
  try {
    requireAddresses(addresses, parse);
  } catch (error) {
    throw error instanceof ModuleError ? error.wrap("addresses").wrap("instantiate permission") : error;
  }
}

function requireAddresses(addresses: readonly string[], parse: ParseAddress): void {
  if (addresses.length === 0) throw ErrEmpty();
  for (const [index, address] of addresses.entries()) {
    orThrow(
      () => parse(address),
      (reason) => ErrInvalid(`address: ${reason}`),
    );
    if (addresses.indexOf(address) < index) throw ErrInvalid(`duplicate address: ${address}`);
  }
}
