import { MsgSend } from "../../../../../cosmos/proto/gen/cosmos/bank/v1beta1/tx.ts";
import {
  MsgExecuteContract,
  MsgInstantiateContract,
} from "../../../../../cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { TYPE_URL } from "../../../../../cosmos/proto/type-urls.ts";
import { toWireCoin, type Coin } from "../../../runtime/coins.ts";
import type { Context } from "../../../runtime/context.ts";
import { ErrUnauthorized, ErrUnknownRequest } from "../../../runtime/errors.ts";
import type { ContractMessage, ReplyResult } from "../contract.ts";
import { ErrUnknownMsg } from "../errors.ts";
import type { WasmDeps } from "../types.ts";

/** Runs one message of a contract and returns its response. Throws `ModuleError`. */
export type RunMessage = (
  context: Context,
  contract: string,
  message: ContractMessage,
) => Extract<ReplyResult, { ok: true }>;

/**
 * Creates a message runner. It routes each message to the chain's handler of its type URL, with the contract as the only
 * signer, and custom messages to the handler of the chain's bindings.
 */
export function createMessageRunner(deps: Pick<WasmDeps, "findMessage" | "customMessages">): RunMessage {
  return (context, contract, message) => {
    if (message.kind !== "custom") return route(context, contract, toAny(contract, message), deps);
    const result = deps.customMessages?.(context, contract, message.message);
    if (result === undefined) throw ErrUnknownMsg("custom variant not supported");
    const { typeUrl, response } = result.response;
    return { ok: true, data: result.data, responses: [{ typeUrl, value: response }] };
  };
}

interface PackedMessage {
  readonly typeUrl: string;
  readonly value: Uint8Array;
}

function route(
  context: Context,
  contract: string,
  { typeUrl, value }: PackedMessage,
  deps: Pick<WasmDeps, "findMessage">,
): Extract<ReplyResult, { ok: true }> {
  const handler = deps.findMessage(typeUrl);
  if (handler === undefined) throw ErrUnknownRequest(`can't route message ${typeUrl}`);
  // A contract signs for itself only. Nothing else authenticates these messages: they never pass the ante handler.
  const signers = handler.signers(value);
  if (signers.length !== 1 || signers[0] !== contract)
    throw ErrUnauthorized("contract doesn't have permission");
  const { typeUrl: responseUrl, response } = handler.handle(context, value);
  return { ok: true, data: response, responses: [{ typeUrl: responseUrl, value: response }] };
}

function toAny(contract: string, message: Exclude<ContractMessage, { kind: "custom" }>): PackedMessage {
  switch (message.kind) {
    case "any":
      return message;
    case "send":
      return {
        typeUrl: TYPE_URL.send,
        value: MsgSend.encode({
          fromAddress: contract,
          toAddress: message.to,
          amount: toWireCoins(message.coins),
        }).finish(),
      };
    case "execute":
      return {
        typeUrl: TYPE_URL.executeContract,
        value: MsgExecuteContract.encode({
          sender: contract,
          contract: message.contract,
          msg: message.message,
          funds: toWireCoins(message.funds),
        }).finish(),
      };
    case "instantiate":
      return {
        typeUrl: TYPE_URL.instantiateContract,
        value: MsgInstantiateContract.encode({
          sender: contract,
          admin: message.admin,
          codeId: message.codeId,
          label: message.label,
          msg: message.message,
          funds: toWireCoins(message.funds),
        }).finish(),
      };
  }
}

function toWireCoins(coins: readonly Coin[]): { denom: string; amount: string }[] {
  return coins.map(toWireCoin);
}
