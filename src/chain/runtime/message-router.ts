import { TxMsgData } from "../../proto/gen/cosmos/base/abci/v1beta1/abci.ts";
import type { Context } from "./context.ts";
import type { ChainEvent } from "./events.ts";
import { event } from "./events.ts";
import { isPastLimit } from "./gas.ts";
import type { ChainModule, HandlerResult, MessageHandler } from "./module.ts";
import { ModuleError } from "./module-error.ts";
import { ErrInvalidRequest, ErrUnknownRequest } from "./sdk-errors.ts";
import type { DecodedTx, TxMessage } from "./tx.ts";

/** All message handlers by type URL. Throws when two modules claim one. */
export function collectHandlers(modules: readonly ChainModule[]): ReadonlyMap<string, MessageHandler> {
  const handlers = new Map<string, MessageHandler>();
  for (const handler of modules.flatMap(({ messages }) => messages)) {
    if (handlers.has(handler.typeUrl))
      throw new Error(`this is a bug: two modules handle ${handler.typeUrl}`);
    handlers.set(handler.typeUrl, handler);
  }
  return handlers;
}

/** Refuses a transaction without messages, or with one that nobody handles. */
export function requireRoutable(tx: DecodedTx): void {
  if (tx.messages.length === 0) throw ErrInvalidRequest("must contain at least one message");
  for (const { typeUrl, handler } of tx.messages) {
    if (handler === undefined) throw ErrUnknownRequest(`no message handler found for ${typeUrl}`);
  }
}

/** What the messages of a transaction did. */
export interface MessagesResult {
  /** Encoded `TxMsgData`. */
  readonly data: Uint8Array;
  readonly events: readonly ChainEvent[];
}

/**
 * Runs the messages one after the other, each on its own layer. Throws the first failure with the message's index in
 * front; running out of the transaction's gas keeps its own text, as it ends the transaction from outside.
 */
export function runMessages(context: Context, tx: DecodedTx): MessagesResult {
  const results = tx.messages.map((message, index) => runMessage(context, message, index));
  const msgResponses = results.map(({ typeUrl, response }) => ({ typeUrl, value: response }));
  return {
    data: TxMsgData.encode({ data: [], msgResponses }).finish(),
    events: results.flatMap(({ events }) => events),
  };
}

/** What one message answered, and its events. */
interface Handled extends HandlerResult {
  readonly events: readonly ChainEvent[];
}

function runMessage(context: Context, message: TxMessage, index: number): Handled {
  try {
    return handle(context, message, index);
  } catch (thrown) {
    if (!(thrown instanceof ModuleError) || isPastLimit(context.gas)) throw thrown;
    throw thrown.wrap(`failed to execute message; message index: ${index}`);
  }
}

function handle(context: Context, message: TxMessage, index: number): Handled {
  const { handler } = message;
  if (handler === undefined) throw ErrUnknownRequest(`no message handler found for ${message.typeUrl}`);
  const events: ChainEvent[] = [];
  const result = context.atomically((inner) => handler.handle(withEvents(inner, events), message.value));
  const sender = handler.signers(message.value)[0];
  const all = [messageEvent(message.typeUrl, sender, events), ...events];
  return { ...result, events: all.map((each) => withMessageIndex(each, index)) };
}

/** The same context with another list of events, for it and for the layers above it. */
function withEvents(context: Context, events: ChainEvent[]): Context {
  return {
    ...context,
    emit: (each) => {
      events.push(each);
    },
    atomically: (work) =>
      context.atomically((inner) => {
        const pending: ChainEvent[] = [];
        const result = work(withEvents(inner, pending));
        events.push(...pending);
        return result;
      }),
    withGas: (gas) => withEvents(context.withGas(gas), events),
  };
}

/** The event that opens every message; the module is named only when the handler has not named one. */
function messageEvent(
  typeUrl: string,
  sender: string | undefined,
  events: readonly ChainEvent[],
): ChainEvent {
  const named = events.some(({ attributes }) => attributes.some(({ key }) => key === "module"));
  const module = typeUrl.split(".")[1];
  return event("message", [
    ["action", typeUrl],
    ...(sender === undefined ? [] : [["sender", sender] as const]),
    ...(named || module === undefined ? [] : [["module", module] as const]),
  ]);
}

function withMessageIndex(each: ChainEvent, index: number): ChainEvent {
  const attribute = { key: "msg_index", value: index.toString(), index: true };
  return { type: each.type, attributes: [...each.attributes, attribute] };
}
