import { gzipSync } from "node:zlib";
import { Option } from "commander";
import * as wire from "../../../cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { messageFromJson } from "../../../cosmos/proto/json.ts";
import { fromBase64, fromHex, toBase64, utf8 } from "../../../platform/base/bytes.ts";
import { CliError, EXIT } from "../../../platform/base/errors.ts";
import type { JsonObject, JsonValue } from "../../../platform/base/json.ts";
import { type Fields, parseCoins, parseJsonText, requiredOption, textOf } from "../command-inputs.ts";
import { readContract } from "../contract-code.ts";
import { PROFILE_OPTIONS } from "../gas-reports.ts";
import { message, messageCommands } from "../module-tx.ts";

/** Options that set who may instantiate contracts from the code. */
const PERMISSION = {
  everybody: () =>
    new Option("--instantiate-everybody", "let anyone create contracts from the code").conflicts([
      "instantiateNobody",
      "instantiateAnyofAddresses",
    ]),
  nobody: () =>
    new Option(
      "--instantiate-nobody",
      "let only the chain's authority create contracts from the code",
    ).conflicts("instantiateAnyofAddresses"),
  addresses: [
    "--instantiate-anyof-addresses <addresses>",
    "let only these comma-separated accounts create contracts from the code",
    (text: string) => text.split(","),
  ],
} as const;

const AMOUNT = [
  "--amount <coins>",
  "coins to send with the message, e.g. 5untrn or 1uibcatom,5untrn",
  parseCoins,
] as const;

const CREATE = {
  fields: messageWords("instantiation message"),
  options: {
    funds: AMOUNT,
    ...PROFILE_OPTIONS,
    label: requiredOption("--label <text>", "contract label"),
    admin: ["--admin <address>", "account that may migrate the contract"],
    "--no-admin": ["--no-admin", "let nobody migrate the contract"],
  },
  prints: { contract: "address" },
} as const;

/** `relaywatch tx wasm`, with the same names and arguments as wasmd. */
export const txWasmCommand = messageCommands({
  service: "cosmwasm.wasm.v1.Msg",
  sending: { callsContract: true },
  fields: {
    wasm_byte_code: "<file> WebAssembly file, plain or compressed with gzip",
    code_ids: "<code-id...> code ids",
    new_admin: "<new-admin> address of the new admin",
    new_label: "<new-label> new contract label",
    salt: "<salt> 1 to 64 bytes in hex, or in the format set by --ascii or --b64",
  },
  messages: {
    "store|upload": message("StoreCode", "upload a contract's code; the code is checked before it is sent", {
      takes: ["wasm_byte_code"],
      options: PERMISSION,
      complete: ({ wasm_byte_code: file, ...choice }) => ({
        wasm_byte_code: toBase64(new Uint8Array(gzipSync(readContract(textOf(file))))),
        instantiate_permission: permissionOf(choice),
      }),
      prints: { code: "code_id" },
    }),
    "instantiate|init": message("InstantiateContract", "create a contract from a stored code", {
      ...CREATE,
      takes: ["code_id", "msg"],
      complete: withAdmin,
      encode: asWritten("MsgInstantiateContract", wire.MsgInstantiateContract),
    }),
    instantiate2: message(
      "InstantiateContract2",
      "create a contract at a predictable address, which query build-address prints",
      {
        ...CREATE,
        takes: ["code_id", "msg", "salt"],
        options: {
          ...CREATE.options,
          ascii: ["--ascii", "read the salt as text"],
          b64: ["--b64", "read the salt as base64"],
          fix_msg: ["--fix-msg", "derive the address from the message as well"],
        },
        complete: ({ salt, ascii, b64, ...given }) => ({
          ...withAdmin(given),
          salt: toBase64(saltOf(textOf(salt), { ascii, b64 })),
        }),
        encode: asWritten("MsgInstantiateContract2", wire.MsgInstantiateContract2),
      },
    ),
    execute: message("ExecuteContract", "call a contract", {
      fields: messageWords("message to the contract"),
      options: { funds: AMOUNT, ...PROFILE_OPTIONS },
      encode: asWritten("MsgExecuteContract", wire.MsgExecuteContract),
      prints: { data: "data" },
    }),
    migrate: message("MigrateContract", "replace a contract's code", {
      fields: messageWords("migration message"),
      options: PROFILE_OPTIONS,
      encode: asWritten("MsgMigrateContract", wire.MsgMigrateContract),
    }),
    "set-contract-admin": message("UpdateAdmin", "choose the account that may migrate a contract", {
      takes: ["contract", "new_admin"],
    }),
    "clear-contract-admin": message(
      "ClearAdmin",
      "remove a contract's admin, so that nobody can migrate it any more",
    ),
    "set-contract-label": message("UpdateContractLabel", "rename a contract", {
      takes: ["contract", "new_label"],
    }),
    "update-instantiate-config": message(
      "UpdateInstantiateConfig",
      "choose who may create contracts from a code",
      { takes: ["code_id"], options: PERMISSION, complete: withNewPermission },
    ),
    // Loading a contract's code for a call costs 60,000 gas, or 2,000 gas if the code is pinned.
    pin: message("PinCodes", "pin codes, so that calls to them cost less gas"),
    unpin: message("UnpinCodes", "unpin codes, so that calls to them cost full gas"),
  },
});

/** Returns the code's instantiation permission, or undefined to use the chain's default permission. */
function permissionOf({ everybody, nobody, addresses }: Fields): JsonValue | undefined {
  if (addresses !== undefined) return { permission: "ACCESS_TYPE_ANY_OF_ADDRESSES", addresses };
  if (everybody === true) return { permission: "ACCESS_TYPE_EVERYBODY" };
  return nobody === true ? { permission: "ACCESS_TYPE_NOBODY" } : undefined;
}

function withNewPermission({ code_id, ...choice }: Fields): Fields {
  const permission = permissionOf(choice);
  if (permission !== undefined) return { code_id, new_instantiate_permission: permission };
  throw new CliError(
    EXIT.usage,
    "specify --instantiate-everybody, --instantiate-nobody or --instantiate-anyof-addresses",
  );
}

/** Like wasmd, requires either `--admin` or `--no-admin`, because a contract without an admin can never be migrated. */
function withAdmin({ admin, ...given }: Fields): Fields {
  if (admin !== undefined) return { ...given, admin: admin === false ? "" : admin };
  throw new CliError(EXIT.usage, "specify --admin ADDRESS (who may migrate the contract) or --no-admin");
}

function saltOf(text: string, formats: Fields): Uint8Array {
  const [salt, format] = decodeSalt(text, formats);
  if (salt !== undefined && salt.length > 0 && salt.length <= 64) return salt;
  throw new CliError(EXIT.usage, `salt ${text}: expected 1 to 64 bytes of ${format}`);
}

function decodeSalt(text: string, { ascii, b64 }: Fields): readonly [Uint8Array | undefined, string] {
  if (ascii === true) return [utf8(text), "text"];
  const format = b64 === true ? "base64" : "hex (see --ascii and --b64)";
  try {
    return [b64 === true ? fromBase64(text) : fromHex(text), format];
  } catch {
    return [undefined, format];
  }
}

function messageWords(description: string) {
  return { msg: [`<json> ${description}`, parseJsonText] } as const;
}

/**
 * Encodes a message whose contract JSON stays exactly as the user wrote it. With proto JSON, spaces and digits of long numbers
 * would be lost.
 */
function asWritten<T extends { readonly msg: Uint8Array }>(
  name: string,
  type: { decode(bytes: Uint8Array): T; encode(message: T): { finish(): Uint8Array } },
): (fields: JsonObject) => Uint8Array {
  return ({ msg, ...fields }) => {
    const known = type.decode(messageFromJson(`cosmwasm.wasm.v1.${name}`, fields));
    return type.encode({ ...known, msg: utf8(textOf(msg)) }).finish();
  };
}
