import { fromBase64, fromHex, prefixEnd, toBase64, toHex } from "../../../base/bytes.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { AccessType, ContractInfo } from "../../../proto/gen/cosmwasm/wasm/v1/types.ts";
import { messageFromJson, messageToJson } from "../../../proto/json.ts";
import { formatAddress, parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import type { MessageHandler } from "../../runtime/module.ts";
import { codeHash, codes, contracts, contractStore, sequences, statePrefix, takeCodeId } from "./keeper.ts";
import { MODULE_NAME } from "./keys.ts";
import type { WasmOptions } from "./types.ts";

const CONTRACT_INFO_TYPE = "cosmwasm.wasm.v1.ContractInfo";

/** Message kinds that a genesis may run, and their types. */
const GENESIS_MESSAGES: ReadonlyMap<string, string> = new Map([
  ["instantiate_contract", "cosmwasm.wasm.v1.MsgInstantiateContract"],
  ["execute_contract", "cosmwasm.wasm.v1.MsgExecuteContract"],
]);

/**
 * Reads `codes` (`{code_id?, name, creator}`, ids from 1 when left out), `contracts` (with their state) and `sequences` of an
 * export, then runs `gen_msgs` in order: `{"instantiate_contract": MsgInstantiateContract}` or `{"execute_contract": …}` in
 * proto JSON. A message that fails fails the genesis. Throws with the path of what is wrong.
 */
export function initGenesis(
  context: Context,
  genesis: JsonValue | undefined,
  options: WasmOptions,
  findHandler: (typeUrl: string) => MessageHandler | undefined,
): void {
  const fields = isRecord(genesis ?? {}) ? (genesis ?? {}) : fail("", "an object was expected");
  if (!isRecord(fields)) return;
  each(fields, "codes", (entry, path) => initCode(context, entry, path, options));
  each(fields, "contracts", (entry, path) => initContract(context, entry, path, options));
  initSequences(context, fields["sequences"]);
  each(fields, "gen_msgs", (entry, path) => runMessage(context, entry, path, findHandler));
}

/** Codes by name, contracts with their state, and the counters: {@link initGenesis} of it gives the same store again. */
export function exportGenesis(context: Context, options: WasmOptions): JsonObject {
  const names = new Map(options.codes.map((code) => [toHex(codeHash(code)), code.name]));
  return {
    codes: [...codes.entries(context)].map(([id, info]) => ({
      code_id: id.toString(),
      name: names.get(toHex(info.codeHash)) ?? "",
      creator: info.creator,
    })),
    contracts: [...contracts.entries(context)].map(([address, info]) => ({
      contract_address: formatAddress(options.bech32Prefix, address),
      contract_info: messageToJson(CONTRACT_INFO_TYPE, ContractInfo.encode(info).finish()),
      contract_state: stateOf(context, address),
    })),
    sequences: {
      next_code_id: sequences.nextCodeId(context).toString(),
      next_instance: sequences.nextInstance(context).toString(),
    },
  };
}

function stateOf(context: Context, address: Uint8Array): JsonValue {
  const prefix = statePrefix(address);
  return [...context.store(MODULE_NAME).iterate(prefix, prefixEnd(prefix))].map(([key, value]) => ({
    key: toHex(key.subarray(prefix.length)),
    value: toBase64(value),
  }));
}

function initCode(context: Context, entry: Fields, path: string, options: WasmOptions): void {
  const name = text(entry, "name", path);
  const code = options.codes.find((known) => known.name === name);
  if (code === undefined) fail(`${path}.name`, `no contract code is called ${JSON.stringify(name)}`);
  const id = takeCodeId(context);
  if (entry["code_id"] !== undefined && uint(entry["code_id"], `${path}.code_id`) !== id)
    fail(`${path}.code_id`, `codes are numbered in order: ${id} was expected`);
  codes.set(context, id, {
    codeHash: codeHash(code),
    creator: text(entry, "creator", path),
    instantiateConfig: { permission: AccessType.ACCESS_TYPE_EVERYBODY, addresses: [] },
  });
}

function initContract(context: Context, entry: Fields, path: string, options: WasmOptions): void {
  const address = parseAddress(options.bech32Prefix, text(entry, "contract_address", path));
  const info = ContractInfo.decode(messageFromJson(CONTRACT_INFO_TYPE, entry["contract_info"]));
  contracts.set(context, address, info);
  const store = contractStore(context, address);
  each(entry, "contract_state", (model, at) =>
    store.set(fromHex(text(model, "key", at)), fromBase64(text(model, "value", at))),
  );
}

function initSequences(context: Context, json: unknown): void {
  if (json === undefined) return;
  if (!isRecord(json)) fail("sequences", "an object was expected");
  sequences.setNextCodeId(context, uint(json["next_code_id"], "sequences.next_code_id"));
  sequences.setNextInstance(context, uint(json["next_instance"], "sequences.next_instance"));
}

function runMessage(
  context: Context,
  entry: Fields,
  path: string,
  findHandler: (typeUrl: string) => MessageHandler | undefined,
): void {
  const [name = "", message] = Object.entries(entry)[0] ?? [];
  const type = GENESIS_MESSAGES.get(name);
  if (type === undefined) fail(path, `one of ${[...GENESIS_MESSAGES.keys()].join(", ")} was expected`);
  const handler = findHandler(`/${type}`);
  if (handler === undefined) fail(path, `no module handles ${type}`);
  try {
    context.atomically((inner) => handler.handle(inner, messageFromJson(type, message)));
  } catch (error) {
    throw new Error(`wasm.${path}.${name}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

type Fields = Readonly<Record<string, unknown>>;

function each(fields: Fields, name: string, visit: (entry: Fields, path: string) => void): void {
  const entries: unknown = fields[name] ?? [];
  if (!Array.isArray(entries)) return fail(name, "a list was expected");
  for (const [index, entry] of entries.entries()) {
    const path = `${name}[${index}]`;
    if (!isRecord(entry)) return fail(path, "an object was expected");
    visit(entry, path);
  }
}

function text(fields: Fields, name: string, path: string): string {
  const value = fields[name];
  return typeof value === "string" ? value : fail(`${path}.${name}`, "a string was expected");
}

function uint(value: unknown, path: string): bigint {
  const valid = typeof value === "string" && /^\d{1,20}$/.test(value);
  return valid ? BigInt(value) : fail(path, "a decimal uint64 as text was expected");
}

function fail(path: string, what: string): never {
  throw new Error(`wasm.${path}: ${what}`);
}
