import { errorText } from "../../../base/errors.ts";
import { utf8 } from "../../../base/bytes.ts";
import type { ContractInfo } from "../../../proto/gen/cosmwasm/wasm/v1/types.ts";
import { formatAddress, parseAddress } from "../../runtime/address.ts";
import type { Coin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import type { ErrorKind } from "../../runtime/module-error.ts";
import { classicContractAddress } from "./address.ts";
import type { Caller, ContractCode, ContractResponse, ContractScope, Reply } from "./contract.ts";
import { ContractFault } from "./contract.ts";
import { createDepthGuard } from "./depth-guard.ts";
import type { Dispatch } from "./dispatch.ts";
import * as errors from "./errors.ts";
import { callEvent, contractEvents } from "./events.ts";
import { chargeCall, chargeEvents } from "./gas.ts";
import { codes, contracts, contractStore, createCodeRegistry, readOnly, takeInstance } from "./keeper.ts";
import { parseMessageJson } from "./message-json.ts";
import type { ContractQuerier } from "./querier.ts";
import type { WasmDeps, WasmOptions } from "./types.ts";

/** A new contract. */
export interface Instantiation {
  readonly creator: string;
  readonly admin: string;
  readonly codeId: bigint;
  readonly label: string;
  readonly message: Uint8Array;
  readonly funds: readonly Coin[];
}

/** Runs contracts. Every call is charged, emits its event, then the contract's events, then runs its messages. */
export interface ContractHost {
  readonly isContract: (context: Context, address: string) => boolean;
  readonly instantiate: (
    context: Context,
    contract: Instantiation,
  ) => { readonly address: string; readonly data: Uint8Array };
  readonly execute: (context: Context, address: string, caller: Caller, message: Uint8Array) => Uint8Array;
  /** The chain itself calls; `message` is JSON text. */
  readonly sudo: (context: Context, address: string, message: string) => Uint8Array;
  readonly reply: (context: Context, address: string, reply: Reply) => Uint8Array | undefined;
  /** Asks a contract; JSON in, JSON out. */
  readonly query: (context: Context, address: string, message: Uint8Array) => Uint8Array;
}

interface Loaded {
  readonly bytes: Uint8Array;
  readonly info: ContractInfo;
  readonly code: ContractCode;
}

/** What the host cannot know when it is made, as it calls back into the host. */
export interface HostParts {
  readonly dispatch: Dispatch;
  readonly querier: ContractQuerier;
}

/** How deep contracts may call each other; the deployed limit for calls is 500, which a JavaScript stack cannot hold. */
const MAX_CALL_DEPTH = 50;
const MAX_QUERY_DEPTH = 10;

/** Creates the host. `parts` is read at the time of a call. */
export function createContractHost(
  options: WasmOptions,
  deps: WasmDeps,
  parts: () => HostParts,
): ContractHost {
  const findCode = createCodeRegistry(options.codes);
  const calls = createDepthGuard(MAX_CALL_DEPTH, errors.maxCallDepth);
  const queries = createDepthGuard(MAX_QUERY_DEPTH, errors.maxQueryDepth);

  const load = (context: Context, address: string): Loaded => {
    const bytes = parseContractAddress(options.bech32Prefix, address);
    const info = contracts.get(context, bytes);
    if (info === undefined) throw errors.noSuchContract(`address ${address}`);
    return { bytes, info, code: loadCode(context, info.codeId) };
  };

  const loadCode = (context: Context, codeId: bigint): ContractCode => {
    const info = codes.get(context, codeId);
    const code = info === undefined ? undefined : findCode(info.codeHash);
    if (code === undefined) throw errors.noSuchCode(`code id ${codeId}`);
    return code;
  };

  const scopeOf = (
    context: Context,
    address: string,
    bytes: Uint8Array,
    mayWrite: boolean,
  ): ContractScope => {
    const storage = contractStore(context, bytes);
    return {
      chainId: context.chainId,
      height: context.height,
      timeNs: context.timeNs,
      address,
      storage: mayWrite ? storage : readOnly(storage),
      query: (request) => parts().querier(context, request),
    };
  };

  const finish = (context: Context, address: string, response: ContractResponse): Uint8Array | undefined => {
    chargeEvents(context, response);
    for (const event of contractEvents(address, response)) context.emit(event);
    return parts().dispatch(context, address, response);
  };

  return {
    isContract: (context, address) => {
      try {
        return contracts.has(context, parseContractAddress(options.bech32Prefix, address));
      } catch {
        return false;
      }
    },

    instantiate: (context, contract) =>
      calls(() => {
        chargeCall(context, contract.message.length, "instantiate");
        const code = loadCode(context, contract.codeId);
        const bytes = classicContractAddress(contract.codeId, takeInstance(context));
        const address = formatAddress(options.bech32Prefix, bytes);
        deps.accounts.ensureAccount(context, address);
        if (contract.funds.length > 0)
          deps.bank.sendCoins(context, contract.creator, address, contract.funds);
        const caller = { sender: contract.creator, funds: contract.funds };
        const response = refusable(errors.instantiateFailed, () =>
          code.instantiate(
            scopeOf(context, address, bytes, true),
            caller,
            parseMessageJson(contract.message),
          ),
        );
        contracts.set(context, bytes, infoOf(context, contract));
        context.emit(callEvent("instantiate", address, contract.codeId));
        return { address, data: finish(context, address, response) ?? new Uint8Array(0) };
      }),

    execute: (context, address, caller, message) =>
      calls(() => {
        const { bytes, code } = load(context, address);
        chargeCall(context, message.length, "execute");
        if (caller.funds.length > 0) deps.bank.sendCoins(context, caller.sender, address, caller.funds);
        const response = refusable(errors.executeFailed, () =>
          entryOf(code, "execute")(scopeOf(context, address, bytes, true), caller, parseMessageJson(message)),
        );
        context.emit(callEvent("execute", address));
        return finish(context, address, response) ?? new Uint8Array(0);
      }),

    sudo: (context, address, message) =>
      calls(() => {
        const { bytes, code } = load(context, address);
        const encoded = utf8(message);
        chargeCall(context, encoded.length, "sudo");
        const response = refusable(errors.executeFailed, () =>
          entryOf(code, "sudo")(scopeOf(context, address, bytes, true), parseMessageJson(encoded)),
        );
        context.emit(callEvent("sudo", address));
        return finish(context, address, response) ?? new Uint8Array(0);
      }),

    reply: (context, address, reply) =>
      calls(() => {
        const { bytes, code } = load(context, address);
        chargeCall(context, replySize(reply), "reply");
        const response = refusable(errors.executeFailed, () =>
          entryOf(code, "reply")(scopeOf(context, address, bytes, true), reply),
        );
        context.emit(callEvent("reply", address));
        return finish(context, address, response);
      }),

    query: (context, address, message) =>
      queries(() => {
        const { bytes, code } = load(context, address);
        chargeCall(context, message.length, "query");
        return refusable(errors.queryFailed, () => {
          const answer = entryOf(code, "query")(
            scopeOf(context, address, bytes, false),
            parseMessageJson(message),
          );
          return utf8(JSON.stringify(answer));
        });
      }),
  };
}

function parseContractAddress(prefix: string, address: string): Uint8Array {
  try {
    return parseAddress(prefix, address);
  } catch (error) {
    throw errors.invalid(`contract: ${errorText(error)}`);
  }
}

function infoOf(context: Context, contract: Instantiation): ContractInfo {
  return {
    codeId: contract.codeId,
    creator: contract.creator,
    admin: contract.admin,
    label: contract.label,
    created: { blockHeight: context.height, txIndex: 0n },
    ibcPortId: "",
    extension: undefined,
  };
}

/** The entry point, or one that refuses when the code has none. */
function entryOf<K extends "execute" | "sudo" | "reply" | "query">(
  code: ContractCode,
  name: K,
): NonNullable<ContractCode[K]> {
  const entry = code[name];
  if (entry === undefined) throw new ContractFault(`contract ${code.name} has no entry point ${name}`);
  return entry;
}

/** A refusal of the contract becomes an error of the chain: "text: execute wasm contract failed". */
function refusable<T>(failed: ErrorKind, call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw error instanceof ContractFault ? failed(error.message) : error;
  }
}

function replySize({ result }: Reply): number {
  if (!result.ok) return result.error.length;
  return result.responses.reduce((sum, { value }) => sum + value.length, 0);
}
