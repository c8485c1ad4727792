import { fromHex, prefixEnd, toBase64, toHex } from "../../../../platform/base/bytes.ts";
import {
  isRecord,
  type JsonObject,
  type JsonValue,
  asBase64,
  asText,
  asUint64,
  elements,
  isPresent,
  type JsonField,
  member,
  required,
} from "../../../../platform/base/json.ts";
import {
  AccessType,
  ContractCodeHistoryEntry,
  ContractInfo,
} from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/types.ts";
import { messageFromJson, messageToJson } from "../../../../cosmos/proto/json.ts";
import { formatAddress, parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { atPath, GenesisError } from "../../runtime/genesis.ts";
import type { MessageHandler } from "../../runtime/module.ts";
import {
  historyOf,
  indexContract,
  codeHash,
  codes,
  contracts,
  contractStore,
  sequences,
  statePrefix,
  takeCodeId,
} from "./keeper.ts";
import { MODULE_NAME } from "./keys.ts";
import type { WasmOptions } from "./types.ts";

const CONTRACT_INFO_TYPE = "cosmwasm.wasm.v1.ContractInfo";

/** Kinds of messages that a genesis may run, with their types. */
const GENESIS_MESSAGES: ReadonlyMap<string, string> = new Map([
  ["instantiate_contract", "cosmwasm.wasm.v1.MsgInstantiateContract"],
  ["execute_contract", "cosmwasm.wasm.v1.MsgExecuteContract"],
]);

type FindHandler = (typeUrl: string) => MessageHandler | undefined;

/**
 * Reads `codes` (`{code_id?, name, creator}`, ids ascend from 1), and from an export `contracts` (with their state) and
 * `sequences`. Then runs `gen_msgs` in order: `{"instantiate_contract": MsgInstantiateContract}` or
 * `{"execute_contract": …}` in proto JSON. All members are optional. Throws `GenesisError`, also when a message fails.
 */
export function initGenesis(
  context: Context,
  genesis: JsonValue | undefined,
  options: WasmOptions,
  findHandler: FindHandler,
): void {
  const root: JsonField = { value: genesis ?? {}, path: `app_state.${MODULE_NAME}`, error: fieldError };
  for (const code of elements(member(root, "codes"))) initCode(context, code, options);
  for (const contract of elements(member(root, "contracts"))) initContract(context, contract, options);
  initSequences(context, member(root, "sequences"));
  for (const message of elements(member(root, "gen_msgs"))) runMessage(context, message, findHandler);
}

/**
 * Prints codes by name, contracts with their state, and the counters. {@link initGenesis} restores the same store from
 * it.
 */
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
      // In protobuf: JSON would change the text of the instantiation message.
      contract_code_history: historyOf(context, address).map((entry) =>
        toBase64(ContractCodeHistoryEntry.encode(entry).finish()),
      ),
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

function initCode(context: Context, field: JsonField, options: WasmOptions): void {
  const name = member(field, "name");
  const requested = requiredText(name);
  const code = options.codes.find((known) => known.name === requested);
  if (code === undefined)
    throw new GenesisError(name.path, `no contract code is called ${JSON.stringify(requested)}`);
  const id = takeCodeId(context);
  const codeId = member(field, "code_id");
  if (isPresent(codeId) && asUint64(codeId) !== id)
    throw new GenesisError(codeId.path, `codes are numbered in order: ${id} was expected`);
  codes.set(context, id, {
    codeHash: codeHash(code),
    creator: requiredText(member(field, "creator")),
    instantiateConfig: { permission: AccessType.ACCESS_TYPE_EVERYBODY, addresses: [] },
  });
}

function initContract(context: Context, field: JsonField, { bech32Prefix }: WasmOptions): void {
  const address = decodeField(member(field, "contract_address"), (text) => parseAddress(bech32Prefix, text));
  const info = member(field, "contract_info");
  const { contract, creator } = atPath(info.path, () => {
    const decoded = ContractInfo.decode(messageFromJson(CONTRACT_INFO_TYPE, info.value));
    return { contract: decoded, creator: parseAddress(bech32Prefix, decoded.creator) };
  });
  contracts.set(context, address, contract);
  for (const entry of elements(member(field, "contract_code_history"))) {
    const decoded = atPath(entry.path, () => ContractCodeHistoryEntry.decode(asBase64(entry)));
    indexContract(context, { address, creator }, decoded);
  }
  const store = contractStore(context, address);
  for (const entry of elements(member(field, "contract_state")))
    store.set(decodeField(member(entry, "key"), fromHex), asBase64(required(member(entry, "value"))));
}

function initSequences(context: Context, field: JsonField): void {
  if (!isPresent(field)) return;
  sequences.setNextCodeId(context, asUint64(required(member(field, "next_code_id"))));
  sequences.setNextInstance(context, asUint64(required(member(field, "next_instance"))));
}

function runMessage(context: Context, field: JsonField, findHandler: FindHandler): void {
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
  return asText(required(field));
}

function decodeField<T>(field: JsonField, decode: (text: string) => T): T {
  const text = requiredText(field);
  return atPath(field.path, () => decode(text));
}

function fieldError(path: string, expected: string): GenesisError {
  return new GenesisError(path, `not ${expected}`);
}
