import { findMessageByTypeUrl } from "../../../../cosmos/proto/registry.ts";
import { compareBytes, utf8 } from "../../../../platform/base/bytes.ts";
import { parseAddress } from "../../runtime/address.ts";
import { collectEvents, type Context, type ChainEvent } from "../../runtime/context.ts";
import * as errors from "../../runtime/errors.ts";
import { createNestedMeter } from "../../runtime/gas.ts";
import type * as wasm from "./contract.ts";
import { sendContractPacket } from "./ibc-channels.ts";
import { ErrInvalid, ErrInvalidMsg, ErrUnknownMsg } from "./keys.ts";
import { redacted } from "./querier.ts";
import type { WasmDeps, WasmOptions } from "./types.ts";

/**
 * Runs the messages in a contract's response. Returns the data from the last reply that set data. If no reply set data, returns the
 * response's data.
 */
export type Dispatch = (
  context: Context,
  contract: string,
  response: wasm.ContractResponse,
) => Uint8Array | undefined;

type SendReply = (context: Context, contract: string, reply: wasm.Reply) => Uint8Array | undefined;

/**
 * Creates the function that runs messages in order, each in a separate cache context. If a message fails, its writes are dropped. A
 * contract that requested a reply on errors receives the error. Otherwise, the entire call fails with "dispatch: submessages: …".
 * If a reply fails, the call fails with "dispatch: submessages: reply: …".
 */
export function createDispatch(
  runMessage: RunMessage,
  {
    reply: sendReply,
    isDeterministic,
  }: {
    readonly reply: SendReply;
    readonly isDeterministic: (error: errors.ModuleError) => boolean;
  },
): Dispatch {
  return (context, contract, response) => {
    let { data } = response;
    for (const message of response.messages) {
      if (message.replyOn === undefined) throw asSubmessages(ErrInvalid("replyOn value"));
      const result = runSubMessage(context, contract, message, { runMessage, isDeterministic });
      if (!wantsReply(message, result)) continue;
      const reply = { id: message.id, result, payload: message.payload ?? NO_PAYLOAD };
      const asReply = (error: errors.ModuleError): errors.ModuleError => asSubmessages(error.wrap("reply"));
      data = errors.wrapErrors(asReply, () => sendReply(context, contract, reply)) ?? data;
    }
    return data;
  };
}

const NO_PAYLOAD = new Uint8Array(0);

function asSubmessages(error: errors.ModuleError): errors.ModuleError {
  return error.wrap("submessages");
}

function runSubMessage(
  context: Context,
  contract: string,
  message: wasm.SubMessage,
  {
    runMessage,
    isDeterministic,
  }: {
    readonly runMessage: RunMessage;
    readonly isDeterministic: (error: errors.ModuleError) => boolean;
  },
): wasm.ReplyResult {
  const events: ChainEvent[] = [];
  try {
    const response = withGasLimit(context, message.gasLimit, (metered) =>
      metered.atomically((inner) => runMessage(collectEvents(inner, events), contract, message.message)),
    );
    return { ...response, events: passOn(context, events, message) };
  } catch (error) {
    // If the call itself runs out of gas, the transaction fails, so the contract must not be able to catch the error.
    if (!(error instanceof errors.ModuleError) || error instanceof errors.ChainPanic) throw error;
    if (message.replyOn === "never" || message.replyOn === "success") throw asSubmessages(error);
    return { ok: false, error: isDeterministic(error) ? error.message : redacted(error) };
  }
}

/**
 * Emits a message's events, except events of type `message`. For a message to a contract, first sorts each event's attributes, like
 * wasmd, and returns the events for the reply. For any other message, returns an empty list.
 */
function passOn(
  context: Context,
  events: readonly ChainEvent[],
  { message }: wasm.SubMessage,
): readonly ChainEvent[] {
  const others = events.filter(({ type }) => type !== "message");
  const isWasm = message.kind === "any" && message.isWasm === true;
  const passed = isWasm ? others.map(withSortedAttributes) : others;
  for (const each of passed) context.emit(each);
  return isWasm ? passed : [];
}

function withSortedAttributes({ type, attributes }: ChainEvent): ChainEvent {
  return { type, attributes: attributes.toSorted((a, b) => compareBytes(utf8(a.key), utf8(b.key))) };
}

/**
 * Runs a message with a separate gas meter if the message's limit is below the call's remaining gas. The message's gas also counts
 * toward the call.
 */
function withGasLimit<T>(context: Context, limit: bigint | undefined, work: (metered: Context) => T): T {
  const { gas } = context;
  if (limit === undefined || (gas.limit !== undefined && limit >= gas.limit - gas.used()))
    return work(context);
  const own = createNestedMeter(gas, limit);
  let result: T;
  try {
    result = work(context.withGas(own));
  } catch (error) {
    if (!(error instanceof errors.ChainPanic)) gas.consume(own.used(), "From limited Sub-Message");
    if (!(error instanceof errors.ChainPanic) || !errors.isOutOfGas(error)) throw error;
    gas.consume(limit, "Sub-Message OutOfGas panic");
    throw errors.ErrOutOfGas("SubMsg hit gas limit");
  }
  gas.consume(own.used(), "From limited Sub-Message");
  return result;
}

function wantsReply({ replyOn }: wasm.SubMessage, result: wasm.ReplyResult): boolean {
  return replyOn === "always" || replyOn === (result.ok ? "success" : "error");
}

type MessageResponse = Omit<Extract<wasm.ReplyResult, { ok: true }>, "events">;

/** Runs one of a contract's messages and returns its response. Throws `ModuleError`. */
export type RunMessage = (
  context: Context,
  contract: string,
  message: wasm.ContractMessage,
) => MessageResponse;

/**
 * Creates a message runner. A message with a type URL goes to the handler for that type, with the contract as the only signer. A
 * custom message goes to the chain's bindings.
 */
export function createMessageRunner(
  { bech32Prefix }: Pick<WasmOptions, "bech32Prefix">,
  deps: Pick<WasmDeps, "findMessage" | "customMessages" | "bank" | "channels" | "readTransferPort">,
): RunMessage {
  return (context, contract, message) => {
    switch (message.kind) {
      case "invalid":
        throw message.error;
      case "nothing":
        return { ok: true, data: undefined, responses: [] };
      case "burn":
        deps.bank.burnCoins(context, contract, message.coins);
        return { ok: true, data: undefined, responses: [] };
      case "send_packet": {
        const sender = parseAddress(bech32Prefix, contract);
        const data = sendContractPacket(context, sender, message, deps.channels);
        return {
          ok: true,
          data,
          responses: [{ typeUrl: "/cosmwasm.wasm.v1.MsgIBCSendResponse", value: data }],
        };
      }
      case "custom":
        return runBinding(context, contract, message.message, deps);
      case "any":
        if (message.isTransfer) deps.readTransferPort?.(context);
        return route(context, contract, message, deps);
    }
  };
}

function runBinding(
  context: Context,
  contract: string,
  message: wasm.MessageJson,
  deps: Pick<WasmDeps, "customMessages">,
): MessageResponse {
  const result = deps.customMessages?.(context, contract, message);
  if (result === undefined) throw ErrUnknownMsg("no handler found");
  const responses = result.response === undefined ? [] : [result.response];
  return {
    ok: true,
    data: result.data,
    responses: responses.map(({ typeUrl, response }) => ({ typeUrl, value: response })),
  };
}

/** Creates the error for a message without a handler. Go unpacks a packed message before looking up the handler. */
function noRoute({ typeUrl, text }: PackedMessage): errors.ModuleError {
  if (text !== undefined) return errors.ErrUnknownRequest(`can't route message ${text}`);
  return findMessageByTypeUrl(typeUrl) === undefined
    ? ErrInvalidMsg(`Cannot unpack proto message with type URL: ${typeUrl}`)
    : errors.ErrUnknownRequest(`can't route message ${typeUrl}`);
}

type PackedMessage = Extract<wasm.ContractMessage, { kind: "any" }>;

function route(
  context: Context,
  contract: string,
  message: PackedMessage,
  deps: Pick<WasmDeps, "findMessage">,
): MessageResponse {
  const { typeUrl, value } = message;
  const handler = deps.findMessage(typeUrl);
  if (handler === undefined) throw noRoute(message);
  // Require that the contract is the only signer. Messages from contracts skip the ante handler, so this is the only check of the signer.
  const signers = handler.signers(value);
  if (signers.length !== 1 || signers[0] !== contract)
    throw errors.ErrUnauthorized("contract doesn't have permission");
  const { typeUrl: responseUrl, response } = handler.handle(context, value);
  return { ok: true, data: response, responses: [{ typeUrl: responseUrl, value: response }] };
}
