import { createObjectSlot } from "../../../platform/base/caches.ts";
import type { Context } from "./context.ts";
import type { MessageHandler, QueryHandler } from "./module.ts";
import { ErrTxDecode, GrpcCode, QueryError, UnreadableRequest } from "./errors.ts";
import { errorMessage } from "../../../platform/base/errors.ts";

/** A generated protobuf message type. */
export interface WireType<T> {
  encode(message: T): { finish(): Uint8Array };
  decode(bytes: Uint8Array): T;
}

/** Creates a query handler from a function over decoded messages. */
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
export interface MessageDefinition<T> {
  readonly typeUrl: string;
  readonly type: { decode(bytes: Uint8Array): T };
  /** Returns bech32 addresses in order. Throws `ModuleError` when a packed part (`Any`) of the message does not decode. */
  readonly signers: (message: T) => readonly string[];
  /** Stateless checks (`ValidateBasic`). They run before the fee is taken, and again before `handle`. */
  readonly validate?: (message: T) => void;
  /** Returns the encoded response; nothing: the response is empty. */
  readonly handle: (context: Context, message: T) => Uint8Array | void;
}

/**
 * Creates a message handler from a function over decoded messages. The name of the response type is that of the message
 * plus "Response"; "MsgXRequest" becomes "MsgXResponse".
 */
export function toMessageHandler<T>(message: MessageDefinition<T>): MessageHandler {
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
      const response = handle(context, decodeOnce(bytes)) ?? new Uint8Array(0);
      return { typeUrl: responseTypeUrl, response };
    },
  };
}

/** Decodes the request of a query. Throws `UnreadableRequest`. */
export function decodeRequest<T>(type: { decode(bytes: Uint8Array): T }, bytes: Uint8Array): T {
  try {
    return type.decode(bytes);
  } catch (thrown) {
    throw new UnreadableRequest(thrown);
  }
}

function decodeMessage<T>(type: MessageDefinition<T>["type"], bytes: Uint8Array): T {
  try {
    return type.decode(bytes);
  } catch (thrown) {
    throw ErrTxDecode(errorMessage(thrown));
  }
}

/** Runs `parse`. Its plain error becomes a query error of gRPC code 2, as the SDK returns unregistered errors. */
export function orQueryError<T>(parse: () => T): T {
  try {
    return parse();
  } catch (thrown) {
    throw new QueryError(GrpcCode.Unknown, errorMessage(thrown));
  }
}
