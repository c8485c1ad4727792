import { MsgSend } from "../../../../cosmos/proto/gen/cosmos/bank/v1beta1/tx.ts";
import {
  MsgExecuteContract,
  MsgInstantiateContract,
} from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { TYPE_URL } from "../../../../cosmos/proto/registry.ts";
import { type Coin, toWireCoin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import {
  ErrOutOfGas,
  ErrUnauthorized,
  ErrUnknownRequest,
  isOutOfGas,
  ModuleError,
  wrapErrors,
} from "../../runtime/errors.ts";
import { createGasMeter } from "../../runtime/gas.ts";
import type { ContractMessage, ContractResponse, Reply, ReplyResult, SubMessage } from "./contract.ts";
import { ErrUnknownMsg } from "./keys.ts";
import type { WasmDeps } from "./types.ts";

/**
 * Runs the messages of a contract's response. Returns the data of the last reply that set data, otherwise the data of
 * the response.
 */
export type Dispatch = (
  context: Context,
  contract: string,
  response: ContractResponse,
) => Uint8Array | undefined;

type SendReply = (context: Context, contract: string, reply: Reply) => Uint8Array | undefined;

/**
 * Creates the dispatch. It runs messages in order, each on a cache layer of its own. If a message fails and the contract
 * wants a reply on errors, its writes are dropped and the contract receives the error. Any other failure fails the
 * complete call with "dispatch: submessages: …".
 */
export function createDispatch(runMessage: RunMessage, sendReply: SendReply): Dispatch {
  return (context, contract, response) => {
    let { data } = response;
    for (const message of response.messages) {
      const result = runSubMessage(context, contract, message, runMessage);
      if (!wantsReply(message, result)) continue;
      data = wrapDispatch(() => sendReply(context, contract, { id: message.id, result })) ?? data;
    }
    return data;
  };
}

function runSubMessage(
  context: Context,
  contract: string,
  message: SubMessage,
  runMessage: RunMessage,
): ReplyResult {
  try {
    return withGasLimit(context, message.gasLimit, (metered) =>
      metered.atomically((inner) => runMessage(inner, contract, message.message)),
    );
  } catch (error) {
    // A contract must not catch the end of the call's own gas: the transaction is over.
    if (!(error instanceof ModuleError) || isExhausted(context)) throw error;
    if (message.replyOn === "never" || message.replyOn === "success")
      return wrapDispatch(() => rethrow(error));
    // wasmd redacts errors to codespace and code: texts may differ between nodes and must not reach the state.
    return { ok: false, error: `codespace: ${error.codespace}, code: ${error.code}` };
  }
}

/** Runs a message under a gas meter of its own. The call's meter then consumes the same gas, at most the limit. */
function withGasLimit<T>(context: Context, limit: bigint | undefined, work: (metered: Context) => T): T {
  if (limit === undefined) return work(context);
  const gas = createGasMeter(limit);
  try {
    return work(context.withGas(gas));
  } catch (error) {
    throw error instanceof ModuleError && isOutOfGas(error) ? ErrOutOfGas("SubMsg hit gas limit") : error;
  } finally {
    // A meter that ran over reports more than its limit.
    const used = gas.used();
    context.gas.consume(used < limit ? used : limit, "From limited Sub-Message");
  }
}

/** Returns whether the gas of the call itself ran out, as opposed to the limit of one message. */
function isExhausted({ gas }: Context): boolean {
  return gas.limit !== undefined && gas.used() > gas.limit;
}

function wantsReply({ replyOn }: SubMessage, result: ReplyResult): boolean {
  return replyOn === "always" || replyOn === (result.ok ? "success" : "error");
}

function wrapDispatch<T>(work: () => T): T {
  return wrapErrors((error) => error.wrap("dispatch: submessages"), work);
}

function rethrow(error: Error): never {
  throw error;
}

/** Runs one message of a contract and returns its response. Throws `ModuleError`. */
type RunMessage = (
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
