import {
  CodeInfo,
  ContractCodeHistoryEntry,
  ContractInfo,
  Params,
} from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/types.ts";
import { messageFromJson, messageToJson } from "../../../../cosmos/proto/json.ts";
import { equalBytes, fromHex, prefixEnd, sha256, toBase64, toHex } from "../../../../platform/base/bytes.ts";
import { isRecord, type JsonField, type JsonObject, type JsonValue } from "../../../../platform/base/json.ts";
import type { Vm } from "../../../vm/vm.ts";
import { formatAddress, parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { atPath, GenesisError, genesisField } from "../../runtime/genesis.ts";
import type { MessageHandler } from "../../runtime/module.ts";
import { checkCode } from "./code-store.ts";
import {
  CODE_SEQUENCE_KEY,
  codeHash,
  codes,
  codeSequence,
  contracts,
  contractStore,
  findCodeBytes,
  histories,
  indexImported,
  INSTANCE_SEQUENCE_KEY,
  instanceSequence,
  isPinned,
  setCodeBytes,
  setPinned,
  statePrefix,
  takeCodeId,
} from "./keeper.ts";
import { MODULE_NAME } from "./keys.ts";
import { EVERYBODY, moduleParams } from "./params.ts";
import type { WasmOptions } from "./types.ts";

const CONTRACT_INFO_TYPE = "cosmwasm.wasm.v1.ContractInfo";
const CODE_INFO_TYPE = "cosmwasm.wasm.v1.CodeInfo";
const HISTORY_TYPE = "cosmwasm.wasm.v1.ContractCodeHistoryEntry";
const PARAMS_TYPE = "cosmwasm.wasm.v1.Params";

/** Kinds of messages that a genesis may run, and their types. */
const GENESIS_MESSAGES: ReadonlyMap<string, string> = new Map([
  ["store_code", "cosmwasm.wasm.v1.MsgStoreCode"],
  ["instantiate_contract", "cosmwasm.wasm.v1.MsgInstantiateContract"],
  ["execute_contract", "cosmwasm.wasm.v1.MsgExecuteContract"],
]);

interface GenesisDeps extends WasmOptions {
  readonly vm: Vm;
  readonly findHandler: (typeUrl: string) => MessageHandler | undefined;
}

/**
 * Reads `params`, `codes` (ids ascend from 1) and, from an export, `contracts` (with their state) and `sequences`. A code is
 * `{code_id?, name, creator}` for TypeScript, or `{code_id, code_info, code_bytes, pinned}` as in wasmd. Then runs `gen_msgs` in
 * order: `{"store_code": MsgStoreCode}`, `{"instantiate_contract": …}` or `{"execute_contract": …}` in proto JSON. All members
 * are optional. Also accepts a wasmd export. Throws `GenesisError`, including if a message fails.
 */
export function initGenesis(context: Context, genesis: JsonValue | undefined, deps: GenesisDeps): void {
  const root = genesisField(MODULE_NAME, genesis);
  initParams(context, root.member("params"));
  for (const code of root.member("codes").elements()) initCode(context, code, deps);
  for (const contract of root.member("contracts").elements()) initContract(context, contract, deps);
  initSequences(context, root.member("sequences"));
  for (const message of root.member("gen_msgs").elements()) runMessage(context, message, deps);
}

/**
 * Exports parameters, codes by name or with their bytes, contracts with their state, and the counters. {@link initGenesis}
 * restores the same store from the export.
 */
export function exportGenesis(context: Context, options: WasmOptions): JsonObject {
  const names = new Map(options.codes.map((code) => [toHex(codeHash(code)), code.name]));
  return {
    params: messageToJson(PARAMS_TYPE, Params.encode(moduleParams.get(context)).finish()),
    codes: [...codes.entries(context)].map(([id, info]) => {
      const name = names.get(toHex(info.codeHash));
      return name === undefined
        ? binaryCode(context, id, info)
        : { code_id: id.toString(), name, creator: info.creator, pinned: isPinned(context, id) };
    }),
    contracts: [...contracts.entries(context)].map(([address, info]) => ({
      contract_address: formatAddress(options.bech32Prefix, address),
      contract_info: messageToJson(CONTRACT_INFO_TYPE, ContractInfo.encode(info).finish()),
      contract_state: stateOf(context, address),
      // In protobuf: JSON would change the text of the instantiation message.
      contract_code_history: [...histories.entries(context, address)].map(([, entry]) =>
        toBase64(ContractCodeHistoryEntry.encode(entry).finish()),
      ),
    })),
    sequences: {
      next_code_id: `${codeSequence.get(context) ?? 1n}`,
      next_instance: `${instanceSequence.get(context) ?? 1n}`,
    },
  };
}

function binaryCode(context: Context, id: bigint, info: CodeInfo): JsonObject {
  return {
    code_id: id.toString(),
    code_info: messageToJson(CODE_INFO_TYPE, CodeInfo.encode(info).finish()),
    code_bytes: toBase64(findCodeBytes(context, info.codeHash) ?? new Uint8Array(0)),
    pinned: isPinned(context, id),
  };
}

function stateOf(context: Context, address: Uint8Array): JsonValue {
  const prefix = statePrefix(address);
  return [...context.store(MODULE_NAME).iterate(prefix, prefixEnd(prefix))].map(([key, value]) => ({
    key: toHex(key.subarray(prefix.length)),
    value: toBase64(value),
  }));
}

function initParams(context: Context, field: JsonField): void {
  atPath(field.path, () =>
    moduleParams.set(
      context,
      field.isPresent() ? Params.decode(messageFromJson(PARAMS_TYPE, field.value)) : moduleParams.defaults,
    ),
  );
}

function initCode(context: Context, field: JsonField, deps: GenesisDeps): void {
  const info = field.member("code_info").isPresent()
    ? readBinary(context, field, deps)
    : readName(field, deps);
  const id = takeCodeId(context);
  const codeId = field.member("code_id");
  if (codeId.isPresent() && codeId.asUint64() !== id)
    throw new GenesisError(codeId.path, `codes are numbered in order: ${id} was expected`);
  codes.set(context, id, info);
  if (field.member("pinned").asBoolean()) setPinned(context, id, true);
}

function readName(field: JsonField, options: WasmOptions): CodeInfo {
  const name = field.member("name");
  const requested = requiredText(name);
  const code = options.codes.find((known) => known.name === requested);
  if (code === undefined)
    throw new GenesisError(name.path, `no contract code is called ${JSON.stringify(requested)}`);
  return {
    codeHash: codeHash(code),
    creator: requiredText(field.member("creator")),
    instantiateConfig: EVERYBODY,
  };
}

/** Reads and checks binary code, and stores its bytes. */
function readBinary(context: Context, field: JsonField, { vm }: GenesisDeps): CodeInfo {
  const given = field.member("code_info");
  const info = atPath(given.path, () => CodeInfo.decode(messageFromJson(CODE_INFO_TYPE, given.value)));
  const bytes = field.member("code_bytes").required();
  const code = bytes.asBase64();
  const checksum = sha256(code);
  if (!equalBytes(checksum, info.codeHash))
    throw new GenesisError(bytes.path, `the SHA-256 is ${toHex(checksum)}, not that of code_info.code_hash`);
  const problem = checkCode(vm, toHex(checksum), code);
  if (problem !== undefined) throw new GenesisError(bytes.path, problem);
  setCodeBytes(context, checksum, code);
  return info;
}

function initContract(context: Context, field: JsonField, { bech32Prefix }: WasmOptions): void {
  const address = decodeField(field.member("contract_address"), (text) => parseAddress(bech32Prefix, text));
  const info = field.member("contract_info");
  const { contract, creator } = atPath(info.path, () => {
    const decoded = ContractInfo.decode(messageFromJson(CONTRACT_INFO_TYPE, info.value));
    return { contract: decoded, creator: parseAddress(bech32Prefix, decoded.creator) };
  });
  contracts.set(context, address, contract);
  const history = field
    .member("contract_code_history")
    .elements()
    .map((entry) => atPath(entry.path, () => ContractCodeHistoryEntry.decode(historyBytes(entry))));
  indexImported(context, { address, creator }, history);
  const store = contractStore(context, address);
  for (const entry of field.member("contract_state").elements())
    store.set(decodeField(entry.member("key"), fromHex), entry.member("value").required().asBase64());
}

/** Reads a history entry as bytes. wasmd exports it as JSON, whereas this chain exports protobuf in base64. */
function historyBytes(entry: JsonField): Uint8Array {
  return isRecord(entry.value) ? messageFromJson(HISTORY_TYPE, entry.value) : entry.asBase64();
}

function initSequences(context: Context, field: JsonField): void {
  if (!field.isPresent()) return;
  if (Array.isArray(field.value)) {
    for (const item of field.elements()) initSequence(context, item);
    return;
  }
  codeSequence.set(context, field.member("next_code_id").required().asUint64());
  instanceSequence.set(context, field.member("next_instance").required().asUint64());
}

/** Reads an entry from wasmd's list: a counter's store key, in base64, and its next value. */
function initSequence(context: Context, item: JsonField): void {
  const field = item.member("id_key");
  const key = field.required().asBase64();
  const value = item.member("value").required().asUint64();
  if (equalBytes(key, CODE_SEQUENCE_KEY)) codeSequence.set(context, value);
  else if (equalBytes(key, INSTANCE_SEQUENCE_KEY)) instanceSequence.set(context, value);
  else
    throw new GenesisError(
      field.path,
      "no such counter; lastCodeId and lastContractId, each behind 04, are known",
    );
}

function runMessage(context: Context, field: JsonField, { findHandler }: GenesisDeps): void {
  const [name = "", message] = isRecord(field.value) ? (Object.entries(field.value)[0] ?? []) : [];
  const type = GENESIS_MESSAGES.get(name);
  if (type === undefined) throw field.error(field.path, `one of ${[...GENESIS_MESSAGES.keys()].join(", ")}`);
  const handler = findHandler(`/${type}`);
  if (handler === undefined) throw new GenesisError(field.path, `no module handles ${type}`);
  // Genesis messages have no signatures. Whoever writes the genesis may send in the name of any account.
  atPath(`${field.path}.${name}`, () =>
    context.atomically((inner) => handler.handle(inner, messageFromJson(type, message))),
  );
}

function requiredText(field: JsonField): string {
  return field.required().asText();
}

function decodeField<T>(field: JsonField, decode: (text: string) => T): T {
  const text = requiredText(field);
  return atPath(field.path, () => decode(text));
}
