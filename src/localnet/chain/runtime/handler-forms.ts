import { createObjectSlot } from "../../../platform/base/caches.ts";
import type { Context } from "./context.ts";
import { type MessageHandler, QueryError, type QueryHandler } from "./module.ts";
import { ErrTxDecode } from "./sdk-errors.ts";

/** A generated protobuf message type. */
export interface WireType<T> {
  encode(message: T): { finish(): Uint8Array };
  decode(bytes: Uint8Array): T;
}

/** Creates a query handler from a function over decoded messages. Bytes that do not decode are gRPC code 13, as in Go. */
export function toQueryHandler<Request, Response>(
  path: string,
  types: { readonly request: WireType<Request>; readonly response: WireType<Response> },
  query: (context: Context, request: Request) => Response,
): QueryHandler {
  return {
    path,
    query: (context, bytes) =>
      types.response.encode(query(context, decodeRequest(types.request, bytes))).finish(),
  };
}

/** A message type with its signers and its handler. */
interface MessageForm<T, Response> {
  readonly typeUrl: string;
  readonly type: { decode(bytes: Uint8Array): T };
  /** Returns bech32 addresses in order. Throws `ModuleError` when a packed part (`Any`) of the message does not decode. */
  readonly signers: (message: T) => readonly string[];
  /** Stateless checks (`ValidateBasic`). They run before the fee is taken, and again before `handle`. */
  readonly validate?: (message: T) => void;
  readonly handle: (context: Context, message: T) => Response;
}

/** A message type with an empty response. */
export type EmptyAnswerMessage<T> = MessageForm<T, void>;

/** A message type whose handler returns the encoded response. */
export type AnsweredMessage<T> = MessageForm<T, Uint8Array>;

/** Creates a message handler from a function over decoded messages. The response is empty. */
export function toMessageHandler<T>(message: EmptyAnswerMessage<T>): MessageHandler {
  return toAnsweringHandler<T>({
    ...message,
    handle: (context, decoded) => {
      message.handle(context, decoded);
      return new Uint8Array(0);
    },
  });
}

/**
 * Creates a message handler from a function over decoded messages that returns the encoded response. The name of the
 * response type is that of the message plus "Response"; "MsgXRequest" becomes "MsgXResponse".
 */
export function toAnsweringHandler<T>(message: AnsweredMessage<T>): MessageHandler {
  const { typeUrl, type, signers, validate, handle } = message;
  // The signers of a message are read several times before the message runs, always from the same array. The decoded
  // message lives as long as that array.
  const decoded = createObjectSlot<Uint8Array, { readonly value: T }>("decoded message");
  const decodeOnce = (bytes: Uint8Array): T => {
    const known = decoded.get(bytes);
    if (known !== undefined) return known.value;
    const value = decodeMessage(type, bytes);
    decoded.set(bytes, { value });
    return value;
  };
  const responseTypeUrl = `${typeUrl.replace(/Request$/, "")}Response`;
  return {
    typeUrl,
    signers: (bytes) => signers(decodeOnce(bytes)),
    ...(validate === undefined ? {} : { validate: (bytes) => validate(decodeOnce(bytes)) }),
    handle: (context, bytes) => {
      validate?.(decodeOnce(bytes));
      return { typeUrl: responseTypeUrl, response: handle(context, decodeOnce(bytes)) };
    },
  };
}

const INTERNAL = 13;

function decodeRequest<T>(type: WireType<T>, bytes: Uint8Array): T {
  try {
    return type.decode(bytes);
  } catch (thrown) {
    throw new QueryError(INTERNAL, textOf(thrown));
  }
}

function decodeMessage<T>(type: AnsweredMessage<T>["type"], bytes: Uint8Array): T {
  try {
    return type.decode(bytes);
  } catch (thrown) {
    throw ErrTxDecode(textOf(thrown));
  }
}

function textOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Runs `parse`. Its plain error becomes a query error of gRPC code 2, as the SDK returns unregistered errors. */
export function orQueryError<T>(parse: () => T): T {
  try {
    return parse();
  } catch (thrown) {
    throw new QueryError(2, textOf(thrown));
  }
}
