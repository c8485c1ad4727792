import * as wire from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import {
  AccessType,
  ContractCodeHistoryEntry,
  ContractInfo,
} from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/types.ts";
import { messageFromJson, messageToJson } from "../../../../cosmos/proto/json.ts";
import { TYPE_URL } from "../../../../cosmos/proto/registry.ts";
import { fromHex, fromUtf8, prefixEnd, toBase64, toHex } from "../../../../platform/base/bytes.ts";
import { errorText } from "../../../../platform/base/errors.ts";
import { isRecord, JsonField, type JsonObject, type JsonValue } from "../../../../platform/base/json.ts";
import { trimGoSpace } from "../../../../platform/base/text.ts";
import { formatAddress, parseAddress } from "../../runtime/address.ts";
import { areValidCoins, type Coin, parseCoins } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import {
  ErrInvalidCoins,
  ErrInvalidRequest,
  ErrNotSupported,
  ErrUnauthorized,
} from "../../runtime/errors.ts";
import { atPath, GenesisError } from "../../runtime/genesis.ts";
import { toMessageHandler } from "../../runtime/handlers.ts";
import type { ChainModule, MessageHandler } from "../../runtime/module.ts";
import { type ContractHost, createContractHost, type HostParts } from "./contract-host.ts";
import { createDispatch, createMessageRunner } from "./dispatch.ts";
import {
  codeHash,
  codes,
  contracts,
  contractStore,
  historyOf,
  indexContract,
  sequences,
  statePrefix,
  takeCodeId,
} from "./keeper.ts";
import { ErrEmpty, ErrInvalid, ErrLimit, MODULE_NAME } from "./keys.ts";
import { createQuerier } from "./querier.ts";
import { createQueryHandlers } from "./queries.ts";
import type { WasmDeps, WasmOptions } from "./types.ts";

/** The module and its contract host, through which other modules call contracts. */
export interface WasmModule extends ChainModule {
  readonly host: ContractHost;
}

/** Creates the module `wasm`: wasmd's messages, queries and events for contracts that are written in TypeScript. */
export function createWasmModule(options: WasmOptions, deps: WasmDeps): WasmModule {
  // The host and its parts call each other. The host reads `parts` at the first call, when both exist.
  const host: ContractHost = createContractHost(options, deps, () => parts);
  const parts: HostParts = {
    dispatch: createDispatch(createMessageRunner(deps), host.reply),
    querier: createQuerier(options, deps, host.query),
  };
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: createMessageHandlers(options, host),
    queries: createQueryHandlers(options.bech32Prefix, host),
    initGenesis: (context, genesis) => initGenesis(context, genesis, options, deps.findMessage),
    exportGenesis: (context) => exportGenesis(context, options),
    host,
  };
}

const MAX_LABEL_BYTES = 128;
const SUDO_CONTRACT = "/cosmwasm.wasm.v1.MsgSudoContract";

/** Handlers of the module's messages. MsgStoreCode fails: codes are named in the genesis. */
function createMessageHandlers(options: WasmOptions, host: ContractHost): readonly MessageHandler[] {
  return [
    toMessageHandler({
      typeUrl: TYPE_URL.instantiateContract,
      type: wire.MsgInstantiateContract,
      signers: ({ sender }) => [sender],
      handle: (context, message) =>
        wire.MsgInstantiateContractResponse.encode(instantiate(context, message, options, host)).finish(),
    }),
    toMessageHandler({
      typeUrl: TYPE_URL.executeContract,
      type: wire.MsgExecuteContract,
      signers: ({ sender }) => [sender],
      handle: (context, message) =>
        wire.MsgExecuteContractResponse.encode({ data: execute(context, message, options, host) }).finish(),
    }),
    toMessageHandler({
      typeUrl: SUDO_CONTRACT,
      type: wire.MsgSudoContract,
      signers: ({ authority }) => [authority],
      handle: (context, message) =>
        wire.MsgSudoContractResponse.encode({ data: sudo(context, message, options, host) }).finish(),
    }),
    toMessageHandler({
      typeUrl: TYPE_URL.storeCode,
      type: wire.MsgStoreCode,
      signers: ({ sender }) => [sender],
      handle: () => {
        throw ErrNotSupported(
          "not implemented: contracts of this chain are written in TypeScript and named in its genesis",
        );
      },
    }),
  ];
}

/** Checks the message in the order of wasmd's ValidateBasic, then instantiates the contract. */
function instantiate(
  context: Context,
  message: wire.MsgInstantiateContract,
  options: WasmOptions,
  host: ContractHost,
): wire.MsgInstantiateContractResponse {
  requireAddress(options, message.sender, "sender");
  if (message.codeId === 0n) throw ErrInvalidRequest("code id is required");
  requireLabel(message.label);
  const funds = requireFunds(message.funds, "funds");
  if (message.admin !== "") requireAddress(options, message.admin, "admin");
  requireJson(message.msg);
  return host.instantiate(context, {
    creator: message.sender,
    admin: message.admin,
    codeId: message.codeId,
    label: message.label,
    message: message.msg,
    funds,
  });
}

/** Checks the message in the order of wasmd's ValidateBasic, then calls the contract. */
function execute(
  context: Context,
  message: wire.MsgExecuteContract,
  options: WasmOptions,
  host: ContractHost,
): Uint8Array {
  requireAddress(options, message.sender, "sender");
  requireAddress(options, message.contract, "contract");
  const funds = requireFunds(message.funds, "sentFunds");
  requireJson(message.msg);
  return host.execute(context, message.contract, { sender: message.sender, funds }, message.msg);
}

function sudo(
  context: Context,
  message: wire.MsgSudoContract,
  options: WasmOptions,
  host: ContractHost,
): Uint8Array {
  if (message.authority !== options.authority)
    throw ErrUnauthorized(`invalid authority; expected ${options.authority}, got ${message.authority}`);
  requireAddress(options, message.contract, "contract");
  requireJson(message.msg);
  return host.sudo(context, message.contract, fromUtf8(message.msg));
}

function requireAddress({ bech32Prefix }: WasmOptions, address: string, name: string): void {
  try {
    parseAddress(bech32Prefix, address);
  } catch (error) {
    throw ErrInvalid(`${name}: ${errorText(error)}`);
  }
}

function requireLabel(label: string): void {
  if (label === "") throw ErrEmpty("label: is required");
  if (new TextEncoder().encode(label).length > MAX_LABEL_BYTES)
    throw ErrLimit(`label: cannot be longer than ${MAX_LABEL_BYTES} characters`);
  if (label !== trimGoSpace(label)) throw ErrInvalid("label: label must not start/end with whitespaces");
}

function requireFunds(funds: Parameters<typeof parseCoins>[0], name: string): readonly Coin[] {
  const coins = parseCoins(funds);
  if (!areValidCoins(coins)) throw ErrInvalidCoins(name);
  return coins;
}

function requireJson(message: Uint8Array): void {
  try {
    JSON.parse(fromUtf8(message));
  } catch {
    throw ErrInvalid("payload msg");
  }
}

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
function initGenesis(
  context: Context,
  genesis: JsonValue | undefined,
  options: WasmOptions,
  findHandler: FindHandler,
): void {
  const root = new JsonField(genesis ?? {}, `app_state.${MODULE_NAME}`, fieldError);
  for (const code of root.member("codes").elements()) initCode(context, code, options);
  for (const contract of root.member("contracts").elements()) initContract(context, contract, options);
  initSequences(context, root.member("sequences"));
  for (const message of root.member("gen_msgs").elements()) runMessage(context, message, findHandler);
}

/**
 * Prints codes by name, contracts with their state, and the counters. {@link initGenesis} restores the same store from
 * it.
 */
function exportGenesis(context: Context, options: WasmOptions): JsonObject {
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
  const name = field.member("name");
  const requested = requiredText(name);
  const code = options.codes.find((known) => known.name === requested);
  if (code === undefined)
    throw new GenesisError(name.path, `no contract code is called ${JSON.stringify(requested)}`);
  const id = takeCodeId(context);
  const codeId = field.member("code_id");
  if (codeId.isPresent() && codeId.asUint64() !== id)
    throw new GenesisError(codeId.path, `codes are numbered in order: ${id} was expected`);
  codes.set(context, id, {
    codeHash: codeHash(code),
    creator: requiredText(field.member("creator")),
    instantiateConfig: { permission: AccessType.ACCESS_TYPE_EVERYBODY, addresses: [] },
  });
}

function initContract(context: Context, field: JsonField, { bech32Prefix }: WasmOptions): void {
  const address = decodeField(field.member("contract_address"), (text) => parseAddress(bech32Prefix, text));
  const info = field.member("contract_info");
  const { contract, creator } = atPath(info.path, () => {
    const decoded = ContractInfo.decode(messageFromJson(CONTRACT_INFO_TYPE, info.value));
    return { contract: decoded, creator: parseAddress(bech32Prefix, decoded.creator) };
  });
  contracts.set(context, address, contract);
  for (const entry of field.member("contract_code_history").elements()) {
    const decoded = atPath(entry.path, () => ContractCodeHistoryEntry.decode(entry.asBase64()));
    indexContract(context, { address, creator }, decoded);
  }
  const store = contractStore(context, address);
  for (const entry of field.member("contract_state").elements())
    store.set(decodeField(entry.member("key"), fromHex), entry.member("value").required().asBase64());
}

function initSequences(context: Context, field: JsonField): void {
  if (!field.isPresent()) return;
  sequences.setNextCodeId(context, field.member("next_code_id").required().asUint64());
  sequences.setNextInstance(context, field.member("next_instance").required().asUint64());
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
  return field.required().asText();
}

function decodeField<T>(field: JsonField, decode: (text: string) => T): T {
  const text = requiredText(field);
  return atPath(field.path, () => decode(text));
}

function fieldError(path: string, expected: string): GenesisError {
  return new GenesisError(path, `not ${expected}`);
}
