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

/** A message type whose handler answers with an empty message. */
export interface EmptyAnswerMessage<T> {
  readonly typeUrl: string;
  readonly type: WireType<T>;
  readonly signers: (message: T) => readonly string[];
  readonly handle: (context: Context, message: T) => void;
}

/** A message handler over decoded messages; the response's type is named as the message's with "Response" behind it. */
export function toMessageHandler<T>(message: EmptyAnswerMessage<T>): MessageHandler {
  const { typeUrl, type, signers, handle } = message;
  return {
    typeUrl,
    signers: (bytes) => signers(decodeMessage(type, bytes)),
    handle: (context, bytes) => {
      handle(context, decodeMessage(type, bytes));
      return { typeUrl: `${typeUrl}Response`, response: new Uint8Array(0) };
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

function decodeMessage<T>(type: WireType<T>, bytes: Uint8Array): T {
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
