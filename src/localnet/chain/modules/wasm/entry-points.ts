import { utf8, toBase64 } from "../../../../platform/base/bytes.ts";
import type { EntryPoint } from "../../../vm/host.ts";
import type { Vm } from "../../../vm/vm.ts";
import type { Context } from "../../runtime/context.ts";
import type { GasTracer } from "../../runtime/gas-trace.ts";
import { type BinaryContracts, createBinaryContracts } from "./binary-contract.ts";
import * as wasm from "./contract.ts";
import * as keeper from "./keeper.ts";
import { parseMessageJson, printMessageJson } from "./message-json.ts";
import { answerQuery, type ContractQuerier, queryFromTypeScript, type SmartQueries } from "./querier.ts";
import type { WasmOptions } from "./types.ts";
import { GoJsonError, printGoJson, printGoObject } from "../../../../platform/base/go-json.ts";
import type { JsonObject } from "../../../../platform/base/json.ts";
import { goPanic, type ModuleError, wrapErrors } from "../../runtime/errors.ts";
import { GoField } from "./go-field.ts";
import { parseContractMessage } from "./contract-message.ts";
import { ErrExecuteFailed, ErrVMError, MODULE_NAME } from "./keys.ts";

/** A call to an entry point that returns a contract response. */
export type EntryCall =
  | {
      readonly entryPoint: "instantiate" | "execute";
      readonly caller: wasm.Caller;
      /** The message for the contract, as JSON text in UTF-8. */
      readonly message: Uint8Array;
    }
  | { readonly entryPoint: "migrate" | "sudo"; readonly message: Uint8Array }
  | { readonly entryPoint: "reply"; readonly reply: wasm.Reply };

/**
 * Calls the entry points of TypeScript contracts and binary contracts. All methods throw `ContractError` for the contract's own
 * error, and `ModuleError` for other errors.
 */
export interface EntryPoints {
  readonly call: (context: Context, code: keeper.LoadedCode, call: EntryCall) => wasm.ContractResponse;
  /** Runs a smart query, whose message and result are JSON. */
  readonly query: (context: Context, code: keeper.LoadedCode, message: Uint8Array) => Uint8Array;
  /** Runs an IBC entry point and reads its result with `decode`. TypeScript code has no IBC entry points. */
  readonly ibc: <T>(
    context: Context,
    code: keeper.LoadedCode,
    call: { readonly entryPoint: EntryPoint; readonly message: Uint8Array },
    decode: (result: Uint8Array) => T,
  ) => T;
}

interface EntryPointDeps extends Pick<SmartQueries, "isDeterministic"> {
  readonly vm: Vm;
  readonly tracer: GasTracer;
  /** Returns the querier. The querier is created later, so it is looked up on each call. */
  readonly querier: () => ContractQuerier;
  /** Returns the current nesting depth of contract calls, where each call was started by a message from the previous call. */
  readonly messageDepth: () => number;
}

export function createEntryPoints(options: WasmOptions, deps: EntryPointDeps): EntryPoints {
  const { querier } = deps;
  const find = keeper.createCodeRegistry(options.codes);
  const typescript = typescriptEntryPoints(find, querier);
  const binary = binaryEntryPoints(
    createBinaryContracts({
      ...deps,
      bech32Prefix: options.bech32Prefix,
      query: (context, contract, request, gas) =>
        answerQuery(querier(), { context, contract, gas }, request, deps),
    }),
  );
  const of = (code: keeper.LoadedCode): EntryPoints => (find(code.hash) === undefined ? binary : typescript);
  return {
    call: (context, code, call) => of(code).call(context, code, call),
    query: (context, code, message) => of(code).query(context, code, message),
    ibc: (context, code, call, decode) => of(code).ibc(context, code, call, decode),
  };
}

function binaryEntryPoints(contracts: BinaryContracts): EntryPoints {
  return {
    call: (context, code, call) => {
      const message = call.entryPoint === "reply" ? printReply(call.reply) : call.message;
      return contracts.call(context, { ...call, code, message }, (result) =>
        parseResponse(result, code.address),
      );
    },
    query: (context, code, message) =>
      contracts.call(context, { code, entryPoint: "query", message }, parseQueryResult),
    ibc: (context, code, call, decode) => contracts.call(context, { code, ...call }, decode),
  };
}

/** Gas per byte of a message to TypeScript code. Binary code instead pays for the instructions that parse the message. */
const MESSAGE_BYTE_COST = 5n;

function typescriptEntryPoints(
  find: (hash: Uint8Array) => wasm.ContractCode | undefined,
  querier: () => ContractQuerier,
): EntryPoints {
  const open = (
    context: Context,
    code: keeper.LoadedCode,
    size: number,
    access: "read" | "write" = "write",
  ): wasm.ContractScope => {
    context.gas.consume(MESSAGE_BYTE_COST * BigInt(size), "wasm contract");
    const { address, bytes } = code;
    const storage = keeper.contractStore(context, bytes);
    return {
      chainId: context.chainId,
      height: context.height,
      timeNs: context.timeNs,
      transactionIndex: () => keeper.transactionIndex(context),
      address,
      storage: access === "read" ? keeper.readOnly(storage) : storage,
      query: (request) => queryFromTypeScript(querier(), context, code, request),
      useGas: (amount) => context.gas.consume(amount, "wasm contract"),
    };
  };
  const entry = <K extends keyof wasm.ContractCode>(
    code: keeper.LoadedCode,
    name: K,
  ): NonNullable<wasm.ContractCode[K]> => {
    const contract = find(code.hash);
    const found = contract?.[name];
    if (found === undefined || found === null)
      throw new wasm.ContractError(`contract ${contract?.name ?? ""} has no entry point ${name}`);
    return found;
  };
  return {
    call: (context, code, call) => {
      if (call.entryPoint === "reply")
        return entry(code, "reply")(open(context, code, sizeOf(call.reply)), call.reply);
      const { length } = call.message;
      if (!("caller" in call))
        return entry(code, call.entryPoint)(open(context, code, length), parseMessageJson(call.message));
      const run = entry(code, call.entryPoint);
      return run(open(context, code, length), call.caller, parseMessageJson(call.message));
    },
    query: (context, code, message) => {
      const run = entry(code, "query");
      const response = run(open(context, code, message.length, "read"), parseMessageJson(message));
      return utf8(printMessageJson(response));
    },
    ibc: (_context, code, { entryPoint }) => {
      throw new wasm.ContractError(
        `contract ${find(code.hash)?.name ?? ""} has no entry point ${entryPoint}`,
      );
    },
  };
}

function sizeOf({ result }: wasm.Reply): number {
  if (!result.ok) return result.error.length;
  return result.responses.reduce((sum, { value }) => sum + value.length, 0);
}

// The following functions read and write the JSON that the chain and a binary contract exchange, in wasmvm 2.1's format.

/**
 * Decodes the result of any entry point except `query`. Throws `ContractError` for the contract's own error, and `GoJsonError` if
 * the bytes are not a result. Like Go, panics for a result that is neither a response nor an error.
 */
function parseResponse(bytes: Uint8Array, contract: string): wasm.ContractResponse {
  return responseOf(okOf(bytes), contract, "data");
}

/** Decodes the result of `ibc_packet_receive` like {@link parseResponse}, except that the data is the acknowledgement. */
function parseAcknowledgedResponse(bytes: Uint8Array, contract: string): wasm.ContractResponse {
  return responseOf(okOf(bytes), contract, "acknowledgement");
}

/**
 * Returns the channel version in the result of `ibc_channel_open`, or "" if the result contains none. As on the deployed chain, a
 * contract error yields no version, so the channel still opens. Throws `GoJsonError`.
 */
function parseOpenResult(bytes: Uint8Array): string {
  return GoField.parse(bytes).member("ok").member("version").text();
}

function responseOf(response: GoField, contract: string, dataName: string): wasm.ContractResponse {
  const data = response.member(dataName);
  return {
    messages: response
      .member("messages")
      .items()
      .map((item) => parseSubMessage(item, contract)),
    attributes: parseAttributes(response.member("attributes")),
    events: response
      .member("events")
      .items()
      .map((item) => ({
        type: item.member("type").text(),
        attributes: parseAttributes(item.member("attributes")),
      })),
    data: data.isPresent() ? data.bytes() : undefined,
  };
}

/**
 * Decodes the base64 data in a query's result and returns the JSON that it contains. Throws `ContractError` for the contract's own
 * error, or `GoJsonError`.
 */
function parseQueryResult(bytes: Uint8Array): Uint8Array {
  return resultOf(bytes).bytes();
}

/** Returns the member "ok" of a successful result. */
function resultOf(bytes: Uint8Array): GoField {
  const root = GoField.parse(bytes);
  const error = root.member("error").text();
  if (error !== "") throw new wasm.ContractError(error);
  return root.member("ok");
}

function okOf(bytes: Uint8Array): GoField {
  const ok = resultOf(bytes);
  if (!ok.isPresent()) throw goPanic("runtime error: invalid memory address or nil pointer dereference");
  return ok;
}

function parseAttributes(field: GoField): readonly wasm.ContractAttribute[] {
  return field
    .items()
    .map((item) => ({ key: item.member("key").text(), value: item.member("value").text() }));
}

const REPLY_ON: readonly wasm.ReplyOn[] = ["always", "error", "success", "never"];

function parseSubMessage(field: GoField, contract: string): wasm.SubMessage {
  const gasLimit = field.member("gas_limit");
  return {
    id: field.member("id").uint64(),
    message: parseContractMessage(field.member("msg"), contract),
    replyOn: parseReplyOn(field.member("reply_on")),
    gasLimit: gasLimit.isPresent() ? gasLimit.uint64() : undefined,
    payload: field.member("payload").bytes(),
  };
}

function parseReplyOn(field: GoField): wasm.ReplyOn | undefined {
  if (!field.isPresent()) return undefined;
  const text = field.text();
  const found = REPLY_ON.find((known) => known === text);
  if (found === undefined) throw new GoJsonError(`invalid reply_on value '${text}'`);
  return found;
}

function printReply({ id, result, payload }: wasm.Reply): Uint8Array {
  return utf8(
    printGoObject([
      ["gas_used", "0"],
      ["id", id.toString()],
      ["result", printGoJson(result.ok ? { ok: outcomeOf(result) } : { error: result.error })],
      ...(payload.length === 0 ? [] : [["payload", printGoJson(toBase64(payload))] as const]),
    ]),
  );
}

function outcomeOf({ events, data, responses }: Extract<wasm.ReplyResult, { ok: true }>): JsonObject {
  return {
    events: events.map(({ type, attributes }) => ({
      type,
      attributes: attributes.map(({ key, value }) => ({ key, value })),
    })),
    ...(data === undefined || data.length === 0 ? {} : { data: toBase64(data) }),
    msg_responses: responses.map(({ typeUrl, value }) => ({ type_url: typeUrl, value: toBase64(value) })),
  };
}

type IbcEntryPoint = Extract<EntryPoint, `ibc_${string}`>;

/** A packet's outcome. `refused` contains the contract's error message, and `accepted` contains the acknowledgement. */
export type ReceiveOutcome =
  | { readonly kind: "refused"; readonly text: string }
  | { readonly kind: "accepted"; readonly acknowledgement: Uint8Array | undefined };

/**
 * Calls a contract's IBC entry points with JSON messages. A call costs only the gas that it uses, and emits no event for the call
 * itself. Methods throw `ModuleError`.
 */
export interface IbcCalls {
  /**
   * Calls `ibc_channel_open`. Returns the version that the contract chooses, or "" if the contract chooses none. As on the
   * deployed chain, only a failure of the virtual machine rejects the channel, not a contract error.
   */
  readonly open: (context: Context, address: string, message: Uint8Array) => string;
  /** Calls an entry point that returns no data, and runs the response's messages. */
  readonly notify: (
    context: Context,
    address: string,
    call: {
      readonly entryPoint: Exclude<IbcEntryPoint, "ibc_channel_open" | "ibc_packet_receive">;
      readonly message: Uint8Array;
    },
  ) => void;
  /** Calls `ibc_packet_receive` and runs the response's messages. Replies to these messages can replace the acknowledgement. */
  readonly receive: (context: Context, address: string, message: Uint8Array) => ReceiveOutcome;
}

interface IbcCallDeps {
  readonly entryPoints: Pick<EntryPoints, "ibc">;
  readonly load: (context: Context, address: string) => keeper.LoadedContract;
  /** Runs `work`, or throws `ModuleError` if contract calls nest too deeply. */
  readonly guard: <T>(work: () => T) => T;
  /** Runs `call`. Converts an error from the contract to ErrExecuteFailed. */
  readonly run: <T>(call: () => T) => T;
  /** Emits a response's events and runs its messages. Returns the call's data, or undefined if the call set no data. */
  readonly respond: (
    context: Context,
    address: string,
    response: wasm.ContractResponse,
  ) => Uint8Array | undefined;
}

export function createIbcCalls({ entryPoints, load, guard, run, respond }: IbcCallDeps): IbcCalls {
  const { ibc } = entryPoints;
  return {
    open: (context, address, message) =>
      guard(() => {
        const code = load(context, address);
        const call = { entryPoint: "ibc_channel_open", message } as const;
        return wrapErrors(asExecuteFailed, () => ibc(context, code, call, parseOpenResult));
      }),
    notify: (context, address, call) =>
      guard(() => {
        const code = load(context, address);
        const response = wrapErrors(asExecuteFailed, () =>
          run(() => ibc(context, code, call, (result) => parseResponse(result, address))),
        );
        respond(context, address, response);
      }),
    receive: (context, address, message) =>
      guard(() => {
        const code = load(context, address);
        const call = { entryPoint: "ibc_packet_receive", message } as const;
        const response = orRefused(() =>
          ibc(context, code, call, (result) => parseAcknowledgedResponse(result, address)),
        );
        if (typeof response === "string") return { kind: "refused", text: response };
        return { kind: "accepted", acknowledgement: respond(context, address, response) };
      }),
  };
}

/** Converts a virtual machine error to ErrExecuteFailed, the error code that wasmd uses in IBC entry points. */
function asExecuteFailed(error: ModuleError): ModuleError {
  return isVmError(error) ? ErrExecuteFailed(textOf(error)) : error;
}

/**
 * Runs `call`. Returns a contract error's message instead of throwing it. A virtual machine error becomes a panic, which fails
 * the transaction.
 */
function orRefused<T>(call: () => T): T | string {
  try {
    return wrapErrors((error) => (isVmError(error) ? goPanic(textOf(error)) : error), call);
  } catch (error) {
    if (error instanceof wasm.ContractError) return error.message;
    throw error;
  }
}

function isVmError({ codespace, code }: ModuleError): boolean {
  return codespace === MODULE_NAME && code === ErrVMError().code;
}

/** Returns an error's message without its description. */
function textOf({ wraps }: ModuleError): string {
  return wraps.toReversed().join(": ");
}
