import * as wire from "../../../proto/gen/cosmwasm/wasm/v1/tx.ts";
import { TYPE_URL } from "../../../proto/type-urls.ts";
import { errorText } from "../../../base/errors.ts";
import { fromUtf8 } from "../../../base/bytes.ts";
import { parseAddress } from "../../runtime/address.ts";
import { areValidCoins, parseCoins, type Coin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { type AnsweredMessage, toAnsweringHandler } from "../../runtime/handler-forms.ts";
import type { MessageHandler } from "../../runtime/module.ts";
import { ErrInvalidCoins, ErrInvalidRequest, ErrUnauthorized } from "../../runtime/sdk-errors.ts";
import { empty, exceedsLimit, invalid, notSupported } from "./errors.ts";
import type { ContractHost } from "./call/contract-host.ts";
import type { WasmOptions } from "./types.ts";

const MAX_LABEL_BYTES = 128;
const SUDO_CONTRACT = "/cosmwasm.wasm.v1.MsgSudoContract";

/** The messages that the contract host answers. */
export function createMessageHandlers(options: WasmOptions, host: ContractHost): readonly MessageHandler[] {
  return [
    handler(TYPE_URL.instantiateContract, {
      request: wire.MsgInstantiateContract,
      signer: ({ sender }) => sender,
      handle: (context, message) =>
        wire.MsgInstantiateContractResponse.encode(instantiate(context, message, options, host)).finish(),
    }),
    handler(TYPE_URL.executeContract, {
      request: wire.MsgExecuteContract,
      signer: ({ sender }) => sender,
      handle: (context, message) =>
        wire.MsgExecuteContractResponse.encode({ data: execute(context, message, options, host) }).finish(),
    }),
    handler(SUDO_CONTRACT, {
      request: wire.MsgSudoContract,
      signer: ({ authority }) => authority,
      handle: (context, message) =>
        wire.MsgSudoContractResponse.encode({ data: sudo(context, message, options, host) }).finish(),
    }),
    handler(TYPE_URL.storeCode, {
      request: wire.MsgStoreCode,
      signer: ({ sender }) => sender,
      handle: () => {
        throw notSupported(
          "not implemented: contracts of this chain are written in TypeScript and named in its genesis",
        );
      },
    }),
  ];
}

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

function requireAddress({ bech32Prefix }: WasmOptions, address: string, what: string): void {
  try {
    parseAddress(bech32Prefix, address);
  } catch (error) {
    throw invalid(`${what}: ${errorText(error)}`);
  }
}

function requireLabel(label: string): void {
  if (label === "") throw empty("label: is required");
  if (new TextEncoder().encode(label).length > MAX_LABEL_BYTES)
    throw exceedsLimit(`label: cannot be longer than ${MAX_LABEL_BYTES} characters`);
  if (label !== label.trim()) throw invalid("label: label must not start/end with whitespaces");
}

function requireFunds(funds: Parameters<typeof parseCoins>[0], what: string): readonly Coin[] {
  const coins = parseCoins(funds);
  if (!areValidCoins(coins)) throw ErrInvalidCoins(what);
  return coins;
}

function requireJson(message: Uint8Array): void {
  try {
    JSON.parse(fromUtf8(message));
  } catch {
    throw invalid("payload msg");
  }
}

interface Handling<M> {
  readonly request: AnsweredMessage<M>["type"];
  readonly signer: (message: M) => string;
  readonly handle: AnsweredMessage<M>["handle"];
}

function handler<M>(typeUrl: string, { request, signer, handle }: Handling<M>): MessageHandler {
  return toAnsweringHandler({ typeUrl, type: request, signers: (message) => [signer(message)], handle });
}
