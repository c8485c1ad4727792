import { TxMsgData } from "../../../cosmos/proto/gen/cosmos/base/abci/v1beta1/abci.ts";
import { unreachable } from "../../../platform/base/errors.ts";
import { collectEvents } from "./collect-events.ts";
import type { Context } from "./context.ts";
import { type ChainEvent, event } from "./events.ts";
import { isPastLimit } from "./gas.ts";
import type { ChainModule, HandlerResult, MessageHandler } from "./module.ts";
import { ModuleError } from "./module-error.ts";
import { ErrInvalidRequest, ErrUnknownRequest } from "./sdk-errors.ts";
import type { DecodedTx, TxMessage } from "./tx.ts";

/** Indexes message handlers by type URL. Throws a plain error when two modules have the same one. */
export function collectHandlers(modules: readonly ChainModule[]): ReadonlyMap<string, MessageHandler> {
  const handlers = new Map<string, MessageHandler>();
  for (const handler of modules.flatMap(({ messages }) => messages)) {
    if (handlers.has(handler.typeUrl)) unreachable(`two modules handle ${handler.typeUrl}`);
    handlers.set(handler.typeUrl, handler);
  }
  return handlers;
}

/**
 * Throws when a transaction has no messages (sdk/18), a message that fails its stateless checks, or one without a handler
 * (sdk/6).
 */
export function requireRoutable(tx: DecodedTx): void {
  if (tx.messages.length === 0) throw ErrInvalidRequest("must contain at least one message");
  for (const { value, handler } of tx.messages) handler?.validate?.(value);
  for (const { typeUrl, handler } of tx.messages) {
    if (handler === undefined) throw ErrUnknownRequest(`no message handler found for ${typeUrl}`);
  }
}

/** Outcome of the messages of one transaction. */
export interface MessagesResult {
  /** Encoded `TxMsgData`. */
  readonly data: Uint8Array;
  readonly events: readonly ChainEvent[];
}

/**
 * Runs the messages in order, each on its own branch. Throws the first failure, with the index of the message in front.
 * The out-of-gas error of the transaction keeps its own text: in Go it is a panic, and the message router does not
 * see panics.
 */
export function runMessages(context: Context, tx: DecodedTx): MessagesResult {
  const results = tx.messages.map((message, index) => runMessage(context, message, index));
  const msgResponses = results.map(({ typeUrl, response }) => ({ typeUrl, value: response }));
  return {
    data: TxMsgData.encode({ data: [], msgResponses }).finish(),
    events: results.flatMap(({ events }) => events),
  };
}

interface MessageResult extends HandlerResult {
  readonly events: readonly ChainEvent[];
}

function runMessage(context: Context, message: TxMessage, index: number): MessageResult {
  try {
    return handleMessage(context, message, index);
  } catch (thrown) {
    if (!(thrown instanceof ModuleError) || isPastLimit(context.gas)) throw thrown;
    throw thrown.wrap(`failed to execute message; message index: ${index}`);
  }
}

function handleMessage(context: Context, message: TxMessage, index: number): MessageResult {
  const { handler } = message;
  if (handler === undefined) throw ErrUnknownRequest(`no message handler found for ${message.typeUrl}`);
  const events: ChainEvent[] = [];
  const result = context.atomically((inner) => handler.handle(collectEvents(inner, events), message.value));
  const sender = handler.signers(message.value)[0];
  // The message event precedes the handler's events, but it depends on them (see `messageEvent`).
  const all = [messageEvent(message.typeUrl, sender, events), ...events];
  return { ...result, events: all.map((each) => withMessageIndex(each, index)) };
}

/**
 * Creates the first event of every message. Like the SDK's `createEvents`, it names the module only when no event of the
 * handler has the attribute `module`; the name is the second segment of the type URL.
 */
function messageEvent(
  typeUrl: string,
  sender: string | undefined,
  events: readonly ChainEvent[],
): ChainEvent {
  const hasModule = events.some(({ attributes }) => attributes.some(({ key }) => key === "module"));
  const module = typeUrl.split(".")[1];
  return event("message", [
    ["action", typeUrl],
    ...(sender === undefined ? [] : [["sender", sender] as const]),
    ...(hasModule || module === undefined ? [] : [["module", module] as const]),
  ]);
}

function withMessageIndex(each: ChainEvent, index: number): ChainEvent {
  const attribute = { key: "msg_index", value: index.toString(), index: true };
  return { type: each.type, attributes: [...each.attributes, attribute] };
}
