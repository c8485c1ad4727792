import { utf8 } from "../../../../base/bytes.ts";
import { formatAddress } from "../../../runtime/address.ts";
import type { Coin } from "../../../runtime/coins.ts";
import type { Context } from "../../../runtime/context.ts";
import { classicContractAddress } from "../address.ts";
import type { Caller, ContractResponse, Reply } from "../contract.ts";
import { createDepthGuard, type DepthGuard } from "./depth-guard.ts";
import type { Dispatch } from "../dispatch/dispatch.ts";
import * as errors from "../errors.ts";
import { callEvent, contractEvents } from "../events.ts";
import { chargeCall, chargeEvents } from "./gas.ts";
import { contracts, createCodeRegistry, takeInstance } from "../keeper.ts";
import { entryOf, type FindCode, loadCode, loadContract, readAddress, refusable } from "./loading.ts";
import { parseMessageJson } from "./message-json.ts";
import type { ContractQuerier } from "../dispatch/querier.ts";
import { createScope } from "./scope.ts";
import type { WasmDeps, WasmOptions } from "../types.ts";

/** A new contract. */
interface Instantiation {
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

/** What the host cannot know when it is made, as it calls back into the host. */
export interface HostParts {
  readonly dispatch: Dispatch;
  readonly querier: ContractQuerier;
}

/** What every call needs. */
interface Machine extends WasmDeps {
  readonly bech32Prefix: string;
  readonly findCode: FindCode;
  readonly parts: () => HostParts;
  readonly calls: DepthGuard;
  readonly queries: DepthGuard;
}

/** How deep contracts may call each other; the deployed limit for calls is 500, which a JavaScript stack cannot hold. */
const MAX_CALL_DEPTH = 50;
const MAX_QUERY_DEPTH = 10;
const NO_DATA = new Uint8Array(0);

/** Creates the host. `parts` is read at the time of a call. */
export function createContractHost(
  options: WasmOptions,
  deps: WasmDeps,
  parts: () => HostParts,
): ContractHost {
  const machine: Machine = {
    ...deps,
    bech32Prefix: options.bech32Prefix,
    findCode: createCodeRegistry(options.codes),
    parts,
    calls: createDepthGuard(MAX_CALL_DEPTH, errors.maxCallDepth),
    queries: createDepthGuard(MAX_QUERY_DEPTH, errors.maxQueryDepth),
  };
  return {
    isContract: (context, address) => {
      const bytes = readAddress(options.bech32Prefix, address);
      return bytes.ok && contracts.has(context, bytes.value);
    },
    instantiate: (context, contract) => machine.calls(() => instantiate(machine, context, contract)),
    execute: (context, address, caller, message) =>
      machine.calls(() => execute(machine, context, address, { caller, message })),
    sudo: (context, address, message) => machine.calls(() => sudo(machine, context, address, utf8(message))),
    reply: (context, address, reply) => machine.calls(() => sendReply(machine, context, address, reply)),
    query: (context, address, message) => machine.queries(() => query(machine, context, address, message)),
  };
}

function instantiate(
  machine: Machine,
  context: Context,
  contract: Instantiation,
): { readonly address: string; readonly data: Uint8Array } {
  const { codeId, creator, funds } = contract;
  chargeCall(context, contract.message.length, "instantiate");
  const code = loadCode(context, codeId, machine.findCode);
  const bytes = classicContractAddress(codeId, takeInstance(context));
  const address = formatAddress(machine.bech32Prefix, bytes);
  machine.accounts.ensureAccount(context, address);
  if (funds.length > 0) machine.bank.sendCoins(context, creator, address, funds);
  const scope = createScope(context, { address, bytes }, machine.parts().querier);
  const response = refusable(errors.instantiateFailed, () =>
    code.instantiate(scope, { sender: creator, funds }, parseMessageJson(contract.message)),
  );
  contracts.set(context, bytes, {
    codeId,
    creator,
    admin: contract.admin,
    label: contract.label,
    created: { blockHeight: context.height, txIndex: 0n },
    ibcPortId: "",
    extension: undefined,
  });
  context.emit(callEvent("instantiate", address, codeId));
  return { address, data: finish(machine, context, address, response) ?? NO_DATA };
}

function execute(
  machine: Machine,
  context: Context,
  address: string,
  { caller, message }: { readonly caller: Caller; readonly message: Uint8Array },
): Uint8Array {
  const { bytes, code } = loadContract(context, address, machine);
  chargeCall(context, message.length, "execute");
  if (caller.funds.length > 0) machine.bank.sendCoins(context, caller.sender, address, caller.funds);
  const scope = createScope(context, { address, bytes }, machine.parts().querier);
  const response = refusable(errors.executeFailed, () =>
    entryOf(code, "execute")(scope, caller, parseMessageJson(message)),
  );
  context.emit(callEvent("execute", address));
  return finish(machine, context, address, response) ?? NO_DATA;
}

function sudo(machine: Machine, context: Context, address: string, message: Uint8Array): Uint8Array {
  const { bytes, code } = loadContract(context, address, machine);
  chargeCall(context, message.length, "sudo");
  const scope = createScope(context, { address, bytes }, machine.parts().querier);
  const response = refusable(errors.executeFailed, () =>
    entryOf(code, "sudo")(scope, parseMessageJson(message)),
  );
  context.emit(callEvent("sudo", address));
  return finish(machine, context, address, response) ?? NO_DATA;
}

function sendReply(
  machine: Machine,
  context: Context,
  address: string,
  reply: Reply,
): Uint8Array | undefined {
  const { bytes, code } = loadContract(context, address, machine);
  chargeCall(context, sizeOf(reply), "reply");
  const scope = createScope(context, { address, bytes }, machine.parts().querier);
  const response = refusable(errors.executeFailed, () => entryOf(code, "reply")(scope, reply));
  context.emit(callEvent("reply", address));
  return finish(machine, context, address, response);
}

function query(machine: Machine, context: Context, address: string, message: Uint8Array): Uint8Array {
  const { bytes, code } = loadContract(context, address, machine);
  chargeCall(context, message.length, "query");
  const scope = createScope(context, { address, bytes, readOnly: true }, machine.parts().querier);
  return refusable(errors.queryFailed, () => {
    const answer = entryOf(code, "query")(scope, parseMessageJson(message));
    return utf8(JSON.stringify(answer));
  });
}

/** What follows every call that may act: the contract's events, then its messages. */
function finish(
  machine: Machine,
  context: Context,
  address: string,
  response: ContractResponse,
): Uint8Array | undefined {
  chargeEvents(context, response);
  for (const event of contractEvents(address, response)) context.emit(event);
  return machine.parts().dispatch(context, address, response);
}

function sizeOf({ result }: Reply): number {
  if (!result.ok) return result.error.length;
  return result.responses.reduce((sum, { value }) => sum + value.length, 0);
}
