import { ContractCodeHistoryOperationType } from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/types.ts";
import { utf8 } from "../../../../platform/base/bytes.ts";
import { trimGoSpace } from "../../../../platform/base/text.ts";
import { formatAddress, parseAddress } from "../../runtime/address.ts";
import type { Coin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import type { ErrorKind } from "../../runtime/errors.ts";
import { type ChainEvent, event } from "../../runtime/events.ts";
import { classicContractAddress } from "./address.ts";
import {
  type Caller,
  type ContractAttribute,
  ContractError,
  type ContractResponse,
  type ContractScope,
  type Reply,
} from "./contract.ts";
import type { Dispatch } from "./dispatch.ts";
import {
  contracts,
  contractStore,
  createCodeRegistry,
  indexContract,
  readOnly,
  takeInstance,
  transactionIndex,
} from "./keeper.ts";
import {
  ErrExceedMaxCallDepth,
  ErrExceedMaxQueryStackSize,
  ErrExecuteFailed,
  ErrInstantiateFailed,
  ErrInvalidEvent,
  ErrQueryFailed,
} from "./keys.ts";
import { entryPoint, type FindCode, loadCode, loadContract, readAddress } from "./loading.ts";
import { parseMessageJson, printMessageJson } from "./message-json.ts";
import type { ContractQuerier } from "./querier.ts";
import type { WasmDeps, WasmOptions } from "./types.ts";

interface Instantiation {
  readonly creator: string;
  /** Empty: no admin. */
  readonly admin: string;
  readonly codeId: bigint;
  readonly label: string;
  /** JSON. */
  readonly message: Uint8Array;
  readonly funds: readonly Coin[];
}

/**
 * Runs contracts. A call is charged, moves its funds, runs the entry point, emits its own event and the contract's
 * events, then runs the contract's messages. All methods but `isContract` throw `ModuleError`.
 */
export interface ContractHost {
  readonly isContract: (context: Context, address: string) => boolean;
  readonly instantiate: (
    context: Context,
    contract: Instantiation,
  ) => { readonly address: string; readonly data: Uint8Array };
  /** `message` is JSON. Returns the data of the response, or of the last reply that set data; empty without any. */
  readonly execute: (context: Context, address: string, caller: Caller, message: Uint8Array) => Uint8Array;
  /** Calls a contract on behalf of the chain itself. `message` is JSON text. Returns data as `execute` does. */
  readonly sudo: (context: Context, address: string, message: string) => Uint8Array;
  readonly reply: (context: Context, address: string, reply: Reply) => Uint8Array | undefined;
  /** Runs a smart query: JSON in, JSON out. */
  readonly query: (context: Context, address: string, message: Uint8Array) => Uint8Array;
}

/** Parts that call back into the host. They are created after it. */
export interface HostParts {
  readonly dispatch: Dispatch;
  readonly querier: ContractQuerier;
}

/** Runs work that may itself call the guard. Throws when such calls nest deeper than the guard's limit. */
type DepthGuard = <T>(work: () => T) => T;

/** Shared state and dependencies of all calls. */
interface CallDeps extends WasmDeps {
  readonly bech32Prefix: string;
  readonly findCode: FindCode;
  readonly parts: () => HostParts;
  readonly guardCall: DepthGuard;
  readonly guardQuery: DepthGuard;
}

/** Greatest depth of calls. The deployed limit is 500, which could overflow the JavaScript stack. */
const MAX_CALL_DEPTH = 50;
/** Greatest depth of smart queries, as deployed. */
const MAX_QUERY_DEPTH = 10;
const NO_DATA = new Uint8Array(0);

/** Creates the host. It reads `parts` at each call. */
export function createContractHost(
  options: WasmOptions,
  deps: WasmDeps,
  parts: () => HostParts,
): ContractHost {
  const host: CallDeps = {
    ...deps,
    bech32Prefix: options.bech32Prefix,
    findCode: createCodeRegistry(options.codes),
    parts,
    guardCall: createDepthGuard(MAX_CALL_DEPTH, ErrExceedMaxCallDepth),
    guardQuery: createDepthGuard(MAX_QUERY_DEPTH, ErrExceedMaxQueryStackSize),
  };
  return {
    isContract: (context, address) => {
      const bytes = readAddress(options.bech32Prefix, address);
      return bytes.ok && contracts.has(context, bytes.value);
    },
    instantiate: (context, contract) => host.guardCall(() => instantiate(host, context, contract)),
    execute: (context, address, caller, message) =>
      host.guardCall(() => execute(host, context, address, { caller, message })),
    sudo: (context, address, message) => host.guardCall(() => sudo(host, context, address, utf8(message))),
    reply: (context, address, reply) => host.guardCall(() => sendReply(host, context, address, reply)),
    query: (context, address, message) => host.guardQuery(() => query(host, context, address, message)),
  };
}

/** Counts nested calls in a variable outside of the stores. That is sound because contract calls are synchronous. */
function createDepthGuard(limit: number, tooDeep: ErrorKind): DepthGuard {
  let depth = 0;
  return (work) => {
    if (depth >= limit) throw tooDeep();
    depth += 1;
    try {
      return work();
    } finally {
      depth -= 1;
    }
  };
}

function instantiate(
  host: CallDeps,
  context: Context,
  contract: Instantiation,
): { readonly address: string; readonly data: Uint8Array } {
  const { codeId, creator, funds } = contract;
  chargeCall(context, contract.message.length, "instantiate");
  const code = loadCode(context, codeId, host.findCode);
  const bytes = classicContractAddress(codeId, takeInstance(context));
  const address = formatAddress(host.bech32Prefix, bytes);
  host.accounts.ensureAccount(context, address);
  if (funds.length > 0) host.bank.sendCoins(context, creator, address, funds);
  const scope = createScope(host, context, { address, bytes });
  const response = runEntryPoint(ErrInstantiateFailed, () =>
    code.instantiate(scope, { sender: creator, funds }, parseMessageJson(contract.message)),
  );
  // As in wasmd, the contract is stored after its entry point has run and before its messages run.
  const created = { blockHeight: context.height, txIndex: 0n };
  indexContract(
    context,
    { address: bytes, creator: parseAddress(host.bech32Prefix, creator) },
    {
      operation: ContractCodeHistoryOperationType.CONTRACT_CODE_HISTORY_OPERATION_TYPE_INIT,
      codeId,
      updated: created,
      msg: contract.message,
    },
  );
  contracts.set(context, bytes, {
    codeId,
    creator,
    admin: contract.admin,
    label: contract.label,
    created,
    ibcPortId: "",
    extension: undefined,
  });
  context.emit(callEvent("instantiate", address, codeId));
  return { address, data: processResponse(host, context, address, response) ?? NO_DATA };
}

function execute(
  host: CallDeps,
  context: Context,
  address: string,
  { caller, message }: { readonly caller: Caller; readonly message: Uint8Array },
): Uint8Array {
  const { bytes, code } = loadContract(context, address, host);
  chargeCall(context, message.length, "execute");
  if (caller.funds.length > 0) host.bank.sendCoins(context, caller.sender, address, caller.funds);
  const scope = createScope(host, context, { address, bytes });
  const response = runEntryPoint(ErrExecuteFailed, () =>
    entryPoint(code, "execute")(scope, caller, parseMessageJson(message)),
  );
  context.emit(callEvent("execute", address));
  return processResponse(host, context, address, response) ?? NO_DATA;
}

function sudo(host: CallDeps, context: Context, address: string, message: Uint8Array): Uint8Array {
  const { bytes, code } = loadContract(context, address, host);
  chargeCall(context, message.length, "sudo");
  const scope = createScope(host, context, { address, bytes });
  const response = runEntryPoint(ErrExecuteFailed, () =>
    entryPoint(code, "sudo")(scope, parseMessageJson(message)),
  );
  context.emit(callEvent("sudo", address));
  return processResponse(host, context, address, response) ?? NO_DATA;
}

function sendReply(host: CallDeps, context: Context, address: string, reply: Reply): Uint8Array | undefined {
  const { bytes, code } = loadContract(context, address, host);
  chargeCall(context, sizeOf(reply), "reply");
  const scope = createScope(host, context, { address, bytes });
  const response = runEntryPoint(ErrExecuteFailed, () => entryPoint(code, "reply")(scope, reply));
  context.emit(callEvent("reply", address));
  return processResponse(host, context, address, response);
}

function query(host: CallDeps, context: Context, address: string, message: Uint8Array): Uint8Array {
  const { bytes, code } = loadContract(context, address, host);
  chargeCall(context, message.length, "query");
  const scope = createScope(host, context, { address, bytes, readOnly: true });
  return runEntryPoint(ErrQueryFailed, () => {
    const response = entryPoint(code, "query")(scope, parseMessageJson(message));
    return utf8(printMessageJson(response));
  });
}

/** Builds the contract's view of the chain. `readOnly` for queries. */
function createScope(
  host: CallDeps,
  context: Context,
  contract: { readonly address: string; readonly bytes: Uint8Array; readonly readOnly?: true },
): ContractScope {
  const storage = contractStore(context, contract.bytes);
  const { querier } = host.parts();
  return {
    chainId: context.chainId,
    height: context.height,
    timeNs: context.timeNs,
    transactionIndex: () => transactionIndex(context),
    address: contract.address,
    storage: contract.readOnly === true ? readOnly(storage) : storage,
    query: (request) => querier(context, request),
    useGas: (amount) => context.gas.consume(amount, "wasm contract"),
  };
}

/**
 * Turns a `ContractError` into an error of the chain ("text: execute wasm contract failed"). Other errors pass through.
 */
function runEntryPoint<T>(failed: ErrorKind, call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw error instanceof ContractError ? failed(error.message) : error;
  }
}

/** Charges for and emits the contract's events, then runs its messages. Returns the data of the call. */
function processResponse(
  host: CallDeps,
  context: Context,
  address: string,
  response: ContractResponse,
): Uint8Array | undefined {
  chargeEvents(context, response);
  for (const each of contractEvents(address, response)) context.emit(each);
  return host.parts().dispatch(context, address, response);
}

function sizeOf({ result }: Reply): number {
  if (!result.ok) return result.error.length;
  return result.responses.reduce((sum, { value }) => sum + value.length, 0);
}

/** Price of each call: wasmd's price of an instance. */
const CALL_COST = 60_000n;
/** Price of each byte of the message, instead of the metered parsing of a WebAssembly contract. */
const MESSAGE_BYTE_COST = 5n;
/** wasmd's prices of attributes and events. */
const ATTRIBUTE_COST = 10n;
const CUSTOM_EVENT_COST = 20n;
const EVENT_BYTE_COST = 1n;
/** Bytes of keys and values that are free in each response. */
const FREE_EVENT_BYTES = 100n;

/** Charges for a call with a message of this many bytes. The store charges for the contract's reads and writes. */
function chargeCall(context: Context, messageBytes: number, entry: string): void {
  const cost = CALL_COST + MESSAGE_BYTE_COST * BigInt(messageBytes);
  context.gas.consume(cost, `Loading CosmWasm module: ${entry}`);
}

/** Charges for the attributes and events of a response. */
function chargeEvents(context: Context, response: ContractResponse): void {
  const attributes = [...response.attributes, ...response.events.flatMap((each) => each.attributes)];
  const bytes = attributes.reduce((sum, attribute) => sum + attributeBytes(attribute), 0n);
  const paidBytes = bytes > FREE_EVENT_BYTES ? bytes - FREE_EVENT_BYTES : 0n;
  const cost =
    ATTRIBUTE_COST * BigInt(attributes.length) +
    EVENT_BYTE_COST * paidBytes +
    CUSTOM_EVENT_COST * BigInt(response.events.length);
  if (cost > 0n) context.gas.consume(cost, "Custom contract event attributes");
}

function attributeBytes({ key, value }: ContractAttribute): bigint {
  return BigInt(new TextEncoder().encode(key + value).length);
}

const ADDRESS_KEY = "_contract_address";
/** Length of the shortest accepted type of a contract's event. */
const MIN_TYPE_LENGTH = 2;

/**
 * Builds the event `instantiate`, `execute`, `sudo` or `reply`. Every call emits it before the contract's own events.
 */
function callEvent(entry: string, address: string, codeId?: bigint): ChainEvent {
  return event(entry, [
    [ADDRESS_KEY, address],
    ...(codeId === undefined ? [] : [["code_id", codeId.toString()] as const]),
  ]);
}

/**
 * Builds the events of a contract's response: `wasm` with its attributes, if it has any, then its own events as
 * `wasm-<type>`. Like wasmd, trims types, keys and values. Throws ErrInvalidEvent.
 */
function contractEvents(address: string, response: ContractResponse): readonly ChainEvent[] {
  const own = response.events.map(({ type, attributes }) => {
    const trimmed = trimGoSpace(type);
    if (trimmed.length < MIN_TYPE_LENGTH) throw ErrInvalidEvent(`Event type too short: '${trimmed}'`);
    return toEvent(`wasm-${trimmed}`, address, attributes);
  });
  return response.attributes.length === 0 ? own : [toEvent("wasm", address, response.attributes), ...own];
}

function toEvent(type: string, address: string, attributes: readonly ContractAttribute[]): ChainEvent {
  const pairs = attributes.map(({ key, value }) => [checkedKey(key), trimGoSpace(value)] as const);
  return event(type, [[ADDRESS_KEY, address], ...pairs]);
}

function checkedKey(key: string): string {
  const trimmed = trimGoSpace(key);
  if (trimmed === "") throw ErrInvalidEvent("Empty attribute key");
  if (trimmed.startsWith("_"))
    throw ErrInvalidEvent(`Attribute key starts with reserved prefix _: '${trimmed}'`);
  return trimmed;
}
