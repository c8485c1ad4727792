import * as wire from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { TYPE_URL } from "../../../../cosmos/proto/type-urls.ts";
import { fromUtf8 } from "../../../../platform/base/bytes.ts";
import { errorText } from "../../../../platform/base/errors.ts";
import { parseAddress } from "../../runtime/address.ts";
import { areValidCoins, type Coin, parseCoins } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import {
  ErrInvalidCoins,
  ErrInvalidRequest,
  ErrNotSupported,
  ErrUnauthorized,
} from "../../runtime/errors.ts";
import { toMessageHandler } from "../../runtime/handlers.ts";
import type { ChainModule, MessageHandler } from "../../runtime/module.ts";
import { type ContractHost, createContractHost, type HostParts } from "./contract-host.ts";
import { createDispatch, createMessageRunner } from "./dispatch.ts";
import { exportGenesis, initGenesis } from "./genesis.ts";
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
  if (label !== label.trim()) throw ErrInvalid("label: label must not start/end with whitespaces");
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
