import type { Context } from "./context.ts";
import { type MessageHandler, QueryError, type QueryHandler } from "./module.ts";
import { ErrTxDecode } from "./sdk-errors.ts";

/** The part of a generated message type that handlers need. */
export interface WireType<T> {
  encode(message: T): { finish(): Uint8Array };
  decode(bytes: Uint8Array): T;
}

/** A query handler over decoded messages. */
export function toQueryHandler<Request, Response>(
  path: string,
  types: { readonly request: WireType<Request>; readonly response: WireType<Response> },
  answer: (context: Context, request: Request) => Response,
): QueryHandler {
  return {
    path,
    query: (context, bytes) =>
      types.response.encode(answer(context, decodeRequest(types.request, bytes))).finish(),
  };
}

/** A message type, and what its handler does with a decoded message. */
interface MessageForm<T, Answer> {
  readonly typeUrl: string;
  readonly type: { decode(bytes: Uint8Array): T };
  /** Throws `ModuleError` when a part of the message that is packed does not decode. */
  readonly signers: (message: T) => readonly string[];
  readonly handle: (context: Context, message: T) => Answer;
}

/** A message type whose handler answers with an empty message. */
export type EmptyAnswerMessage<T> = MessageForm<T, void>;

/** A message type whose handler answers with an encoded message. */
export type AnsweredMessage<T> = MessageForm<T, Uint8Array>;

/** A message handler over decoded messages that answers with an empty message. */
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
 * A message handler over decoded messages. The response's type is named as the message's, with "Response" behind it or
 * in the place of "Request". The bytes of one transaction are decoded once, for signers and handling.
 */
export function toAnsweringHandler<T>(message: AnsweredMessage<T>): MessageHandler {
  const { typeUrl, type, signers, handle } = message;
  const decoded = new WeakMap<Uint8Array, { readonly value: T }>();
  const decodeOnce = (bytes: Uint8Array): T => {
    const known = decoded.get(bytes) ?? { value: decodeMessage(type, bytes) };
    decoded.set(bytes, known);
    return known.value;
  };
  return {
    typeUrl,
    signers: (bytes) => signers(decodeOnce(bytes)),
    handle: (context, bytes) => ({
      typeUrl: `${typeUrl.replace(/Request$/, "")}Response`,
      response: handle(context, decodeOnce(bytes)),
    }),
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

/** Runs `parse`; its plain error becomes that of a query (gRPC code 2), as the SDK passes such errors through. */
export function orQueryError<T>(parse: () => T): T {
  try {
    return parse();
  } catch (thrown) {
    throw new QueryError(2, textOf(thrown));
  }
}
