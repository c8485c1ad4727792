import * as wire from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import type { Context, ChainModule, MessageHandler } from "../../runtime/context.ts";
import { messageHandlers } from "../../runtime/handlers.ts";
import type { PortRouter } from "../ibc/channel/ibc-module.ts";
import { type ContractHost, createContractHost, type HostParts } from "./contract-host.ts";
import { type GasTracer, type SpanKind, UNTRACED } from "../../runtime/gas-trace.ts";
import { createDispatch, createMessageRunner, type RunMessage } from "./dispatch.ts";
import { codeMessages, contractMessages } from "./handlers.ts";
import { createContractApplication } from "./ibc-application.ts";
import { contractOfPort } from "./ibc-channels.ts";
import * as keeper from "./keeper.ts";
import { MODULE_NAME } from "./keys.ts";
import { createQuerier } from "./querier.ts";
import { createQueryHandlers } from "./queries.ts";
import type { WasmDeps, WasmOptions } from "./types.ts";
import {
  CodeInfo,
  ContractCodeHistoryEntry,
  ContractInfo,
  Params,
} from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/types.ts";
import { messageFromJson } from "../../../../cosmos/proto/json.ts";
import { equalBytes, fromHex, prefixEnd, sha256, toBase64, toHex } from "../../../../platform/base/bytes.ts";
import { isRecord, type JsonField, type JsonObject, type JsonValue } from "../../../../platform/base/json.ts";
import type { Vm } from "../../../vm/vm.ts";
import { formatAddress, parseAddress } from "../../runtime/address.ts";
import { atPath, GenesisError, genesisField, genesisPart } from "../../runtime/genesis.ts";
import { checkCode } from "./code-store.ts";

/** The `wasm` module, with the methods that other modules use to call contracts. */
export interface WasmModule extends ChainModule {
  readonly host: ContractHost;
  /** Returns the application for a contract's port, or undefined for any other port. */
  readonly application: PortRouter;
  /** Returns a contract's code id, or undefined if there is no such contract. */
  readonly codeOf: (context: Context, address: Uint8Array) => bigint | undefined;
}

/**
 * Creates the `wasm` module. The module has wasmd's messages, queries and events, and runs both binary and TypeScript contracts.
 */
export function createWasmModule(options: WasmOptions, deps: WasmDeps): WasmModule {
  const { bech32Prefix } = options;
  // The host and its `parts` depend on each other. The host reads `parts` only during a call, when all parts have been created.
  const { tracer = UNTRACED } = deps;
  const host: ContractHost = tracedHost(
    createContractHost(options, { ...deps, tracer }, () => parts),
    tracer,
  );
  const parts: HostParts = {
    dispatch: createDispatch(tracedRunner(createMessageRunner(options, deps), tracer), host),
    querier: createQuerier(options, deps, host),
  };
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: messageHandlers(wire.Msg, {
      ...codeMessages(options, host, deps.vm),
      ...contractMessages(options, host),
    }),
    queries: createQueryHandlers(bech32Prefix, host),
    initGenesis: (context, genesis) =>
      initGenesis(context, genesis, { ...options, vm: deps.vm, findHandler: deps.findMessage }),
    exportGenesis: (context) => exportGenesis(context, options),
    host,
    application: (context, portId) => {
      const address = contractOfPort(context, bech32Prefix, portId);
      if (address === undefined) return undefined;
      return createContractApplication(address, { bech32Prefix, calls: host.ibc, channels: deps.channels });
    },
    codeOf: (context, address) => keeper.contracts.get(context, address)?.codeId,
  };
}

/** Returns a host that traces each call as a span. */
function tracedHost(host: ContractHost, { span }: GasTracer): ContractHost {
  const traced =
    <Args extends unknown[], T>(
      kind: SpanKind,
      name: (...args: Args) => string,
      call: (context: Context, ...args: Args) => T,
    ) =>
    (context: Context, ...args: Args): T =>
      span(
        context,
        kind,
        () => name(...args),
        (inner) => call(inner, ...args),
      );
  return {
    ...host,
    instantiate: traced("contract", ({ codeId }) => `instantiate code ${codeId}`, host.instantiate),
    execute: traced("contract", (address) => `execute ${address}`, host.execute),
    migrate: traced(
      "contract",
      ({ address, codeId }) => `migrate ${address} to code ${codeId}`,
      host.migrate,
    ),
    sudo: traced("contract", (address) => `sudo ${address}`, host.sudo),
    reply: traced("contract", (address, { id }) => `reply ${id} to ${address}`, host.reply),
    query: traced("query", (address) => `query ${address}`, host.query),
  };
}

/** Returns a runner that traces each message from a contract as a span, whichever module handles the message. */
function tracedRunner(run: RunMessage, { span }: GasTracer): RunMessage {
  return (context, contract, message) =>
    span(
      context,
      "message",
      () => `message of ${contract}`,
      (inner) => run(inner, contract, message),
    );
}

const PARAMS = genesisPart<Params>("cosmwasm.wasm.v1.Params", Params);
const CODE_INFO = genesisPart<CodeInfo>("cosmwasm.wasm.v1.CodeInfo", CodeInfo);
const CONTRACT_INFO = genesisPart<ContractInfo>("cosmwasm.wasm.v1.ContractInfo", ContractInfo);
const HISTORY = genesisPart<ContractCodeHistoryEntry>(
  "cosmwasm.wasm.v1.ContractCodeHistoryEntry",
  ContractCodeHistoryEntry,
);

/** The kinds of messages that a genesis may run, with their type URLs. */
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
 * Reads `params`, `codes` (ids ascend from 1) and, in an export, `contracts` (with their state) and `sequences`. An entry for
 * TypeScript code is `{code_id?, name, creator}`. An entry for binary code is `{code_id, code_info, code_bytes, pinned}`, as in
 * wasmd. Then runs the messages in `gen_msgs` in order. Each message is proto JSON: `{"store_code": MsgStoreCode}`,
 * `{"instantiate_contract": …}` or `{"execute_contract": …}`. All members are optional, and the genesis state from a wasmd export
 * is accepted too. Throws `GenesisError`, even if a message fails.
 */
function initGenesis(context: Context, genesis: JsonValue | undefined, deps: GenesisDeps): void {
  const root = genesisField(MODULE_NAME, genesis);
  const params = root.member("params");
  const given = PARAMS.readOptional(params);
  atPath(params.path, () => keeper.moduleParams.set(context, given ?? keeper.moduleParams.defaults));
  for (const code of root.member("codes").elements()) initCode(context, code, deps);
  for (const contract of root.member("contracts").elements()) initContract(context, contract, deps);
  initSequences(context, root.member("sequences"));
  for (const message of root.member("gen_msgs").elements()) runMessage(context, message, deps);
}

/**
 * Exports parameters, codes by name or with their bytes, contracts with their state, and the counters. {@link initGenesis}
 * restores the same store from the export.
 */
function exportGenesis(context: Context, options: WasmOptions): JsonObject {
  const names = new Map(options.codes.map((code) => [toHex(keeper.codeHash(code)), code.name]));
  return {
    params: PARAMS.print(keeper.moduleParams.get(context)),
    codes: [...keeper.codes.entries(context)].map(([id, info]) => {
      const name = names.get(toHex(info.codeHash));
      return name === undefined
        ? binaryCode(context, id, info)
        : { code_id: id.toString(), name, creator: info.creator, pinned: keeper.isPinned(context, id) };
    }),
    contracts: [...keeper.contracts.entries(context)].map(([address, info]) => ({
      contract_address: formatAddress(options.bech32Prefix, address),
      contract_info: CONTRACT_INFO.print(info),
      contract_state: stateOf(context, address),
      // Export protobuf, because JSON would change the text of the instantiation message.
      contract_code_history: [...keeper.histories.entries(context, address)].map(([, entry]) =>
        toBase64(ContractCodeHistoryEntry.encode(entry).finish()),
      ),
    })),
    sequences: {
      next_code_id: `${keeper.codeSequence.next(context)}`,
      next_instance: `${keeper.instanceSequence.next(context)}`,
    },
  };
}

function binaryCode(context: Context, id: bigint, info: CodeInfo): JsonObject {
  return {
    code_id: id.toString(),
    code_info: CODE_INFO.print(info),
    code_bytes: toBase64(keeper.findCodeBytes(context, info.codeHash) ?? new Uint8Array(0)),
    pinned: keeper.isPinned(context, id),
  };
}

function stateOf(context: Context, address: Uint8Array): JsonValue {
  const prefix = keeper.statePrefix(address);
  return [...context.store(MODULE_NAME).iterate(prefix, prefixEnd(prefix))].map(([key, value]) => ({
    key: toHex(key.subarray(prefix.length)),
    value: toBase64(value),
  }));
}

function initCode(context: Context, field: JsonField, deps: GenesisDeps): void {
  const given = CODE_INFO.readOptional(field.member("code_info"));
  const info = given === undefined ? readName(field, deps) : storeBinary(context, field, given, deps);
  const id = keeper.codeSequence.take(context);
  const codeId = field.member("code_id");
  if (codeId.isPresent() && codeId.asUint64() !== id)
    throw new GenesisError(codeId.path, `codes must be numbered in order: expected ${id}`);
  keeper.codes.set(context, id, info);
  if (field.member("pinned").asBoolean()) keeper.setPinned(context, id, true);
}

function readName(field: JsonField, options: WasmOptions): CodeInfo {
  const name = field.member("name");
  const requested = requiredText(name);
  const code = options.codes.find((known) => known.name === requested);
  if (code === undefined)
    throw new GenesisError(name.path, `no contract code is called ${JSON.stringify(requested)}`);
  return {
    codeHash: keeper.codeHash(code),
    creator: requiredText(field.member("creator")),
    instantiateConfig: keeper.EVERYBODY,
  };
}

/** Reads and checks binary code, and stores its bytes. */
function storeBinary(context: Context, field: JsonField, info: CodeInfo, { vm }: GenesisDeps): CodeInfo {
  const bytes = field.member("code_bytes").required();
  const code = bytes.asBase64();
  const checksum = sha256(code);
  if (!equalBytes(checksum, info.codeHash))
    throw new GenesisError(bytes.path, `the SHA-256 is ${toHex(checksum)}, not that of code_info.code_hash`);
  const problem = checkCode(vm, toHex(checksum), code);
  if (problem !== undefined) throw new GenesisError(bytes.path, problem);
  keeper.setCodeBytes(context, checksum, code);
  return info;
}

function initContract(context: Context, field: JsonField, { bech32Prefix }: WasmOptions): void {
  const address = decodeField(field.member("contract_address"), (text) => parseAddress(bech32Prefix, text));
  const info = field.member("contract_info");
  const contract = CONTRACT_INFO.read(info);
  const creator = atPath(info.path, () => parseAddress(bech32Prefix, contract.creator));
  keeper.contracts.set(context, address, contract);
  const history = field
    .member("contract_code_history")
    .elements()
    .map((entry) => (isRecord(entry.value) ? HISTORY.read(entry) : readHistory(entry)));
  keeper.indexImported(context, { address, creator }, history);
  const store = keeper.contractStore(context, address);
  for (const entry of field.member("contract_state").elements())
    store.set(decodeField(entry.member("key"), fromHex), entry.member("value").required().asBase64());
}

/** Reads a history entry in protobuf, the format of this chain's exports. A wasmd export contains JSON instead. */
function readHistory(entry: JsonField): ContractCodeHistoryEntry {
  return atPath(entry.path, () => ContractCodeHistoryEntry.decode(entry.asBase64()));
}

function initSequences(context: Context, field: JsonField): void {
  if (!field.isPresent()) return;
  if (Array.isArray(field.value)) {
    for (const item of field.elements()) initSequence(context, item);
    return;
  }
  keeper.codeSequence.set(context, field.member("next_code_id").required().asUint64());
  keeper.instanceSequence.set(context, field.member("next_instance").required().asUint64());
}

/** Reads an entry of wasmd's list of counters, which contains a counter's store key in base64 and its next value. */
function initSequence(context: Context, item: JsonField): void {
  const field = item.member("id_key");
  const key = field.required().asBase64();
  const value = item.member("value").required().asUint64();
  if (equalBytes(key, keeper.CODE_SEQUENCE_KEY)) keeper.codeSequence.set(context, value);
  else if (equalBytes(key, keeper.INSTANCE_SEQUENCE_KEY)) keeper.instanceSequence.set(context, value);
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
  // Genesis messages need no signatures, because the author of the genesis document may act for any account.
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
