import { cachedOn } from "../store/collections.ts";
import { parseAddress, withSdkErrors } from "./address.ts";
import { ModuleError, ErrTxDecode, GrpcCode, QueryError, UnreadableRequest } from "./errors.ts";
import { type EncodedType, encodeMessage } from "../../../cosmos/proto/encode.ts";
import { CANONICAL_CHAIN_NAME, toChainTypeUrl } from "../../../cosmos/proto/registry.ts";
import type { Context, MessageHandler, QueryHandler } from "./context.ts";
import { errorMessage } from "../../../platform/base/errors.ts";

/** A generated protobuf message type. */
export interface WireType<T> extends EncodedType<T> {
  decode(bytes: Uint8Array): T;
}

type Message<Type> = Type extends { decode(bytes: Uint8Array): infer T } ? T : never;

type Handle<Request, Response> = (context: Context, request: Request) => Response;

/** Marks a method that the deployed chain serves but this chain does not. */
type NotServed = "not served";

/** The chain's name, which only services in the chain's own protobuf packages take as an argument. */
type ChainName<Service extends { readonly name: string }> = Service["name"] extends `neutron.${string}`
  ? [chainName: string]
  : [];

/** The generated description of a query service. */
interface QueryService {
  readonly name: string;
  readonly methods: Readonly<
    Record<string, { readonly request: WireType<unknown>; readonly response: WireType<unknown> }>
  >;
}

/** Implementations of all methods of a query service, by name. */
export type ServedQueries<Service extends QueryService> = {
  readonly [Name in keyof Service["methods"]]: Handle<
    Message<Service["methods"][Name]["request"]>,
    Message<Service["methods"][Name]["response"]>
  >;
};

/** Implementations of a query service's methods, by name; "not served" for methods that the chain lacks. */
export type QueryFunctions<Service extends QueryService> = {
  readonly [Name in keyof Service["methods"]]: ServedQueries<Service>[Name] | NotServed;
};

/** Creates the handlers for a query service from functions that work on decoded messages. */
export function queryHandlers<Service extends QueryService>(
  service: Service,
  functions: QueryFunctions<Service>,
  ...chainName: ChainName<Service>
): readonly QueryHandler[];
export function queryHandlers(
  service: QueryService,
  functions: Readonly<Record<string, Handle<unknown, unknown> | NotServed>>,
  chainName: string = CANONICAL_CHAIN_NAME,
): readonly QueryHandler[] {
  return Object.entries(service.methods).flatMap(([name, { request, response }]) => {
    const query = functions[name];
    if (query === undefined || query === "not served") return [];
    return [
      {
        path: toChainTypeUrl(`/${service.name}/${name}`, chainName),
        query: (context, bytes) => encodeMessage(response, query(context, decodeRequest(request, bytes))),
      },
    ];
  });
}

/** The generated description of a message. */
interface MessageMethod {
  readonly typeUrl: string;
  readonly request: { decode(bytes: Uint8Array): unknown };
  /** Absent if the response has no fields. */
  readonly response?: WireType<unknown>;
  signers(this: void, message: unknown): readonly string[];
}

/** The generated description of a message service. */
interface MessageService {
  readonly name: string;
  readonly methods: Readonly<Record<string, MessageMethod>>;
}

/** A message's implementation and its checks. */
export interface MessageDefinition<Request, Response = void> {
  /** Overrides the signers from the message's definition. Throws `ModuleError` if a packed part (`Any`) cannot be decoded. */
  readonly signers?: (message: Request) => readonly string[];
  /** Checks that Go performs while decoding the message. Throws a plain error. */
  readonly checkDecoded?: (message: Request) => void;
  /** Stateless checks (`ValidateBasic`), which run before the fee is taken, and again before `handle`. */
  readonly validate?: (message: Request) => void;
  readonly handle: Handle<Request, Response>;
}

type ResponseOf<Method extends MessageMethod> = Method extends { readonly response: infer Type }
  ? Message<Type>
  : void;

/** Implementations of a service's messages, by method name. */
export type MessageFunctions<Service extends MessageService> = {
  readonly [Name in keyof Service["methods"]]:
    | Handle<Message<Service["methods"][Name]["request"]>, ResponseOf<Service["methods"][Name]>>
    | MessageDefinition<Message<Service["methods"][Name]["request"]>, ResponseOf<Service["methods"][Name]>>
    | NotServed;
};

/** Creates the handlers for a message service from functions that work on decoded messages. */
export function messageHandlers<Service extends MessageService>(
  service: Service,
  functions: MessageFunctions<Service>,
  ...chainName: ChainName<Service>
): readonly MessageHandler[];
export function messageHandlers(
  service: MessageService,
  functions: Readonly<
    Record<string, Handle<unknown, unknown> | MessageDefinition<unknown, unknown> | NotServed>
  >,
  chainName: string = CANONICAL_CHAIN_NAME,
): readonly MessageHandler[] {
  return Object.entries(service.methods).flatMap(([name, method]) => {
    const given = functions[name];
    if (given === undefined || given === "not served") return [];
    const definition = typeof given === "function" ? { handle: given } : given;
    return [messageHandler(method, definition, chainName)];
  });
}

/** Creates a message handler. The response type is named "MsgXResponse", whether the message is named "MsgX" or "MsgXRequest". */
function messageHandler(
  { typeUrl: canonical, request, response, signers: fieldSigners }: MessageMethod,
  { signers = fieldSigners, checkDecoded, validate, handle }: MessageDefinition<unknown, unknown>,
  chainName: string,
): MessageHandler {
  // Cache the decoded message, because its signers are read several times before it runs.
  const decoded = cachedOn("decoded message", (bytes: Uint8Array) => ({
    message: decodeMessage(() => {
      const message = request.decode(bytes);
      checkDecoded?.(message);
      return message;
    }),
  }));
  const decode = (bytes: Uint8Array): unknown => decoded(bytes).message;
  const typeUrl = toChainTypeUrl(canonical, chainName);
  const responseTypeUrl = `${typeUrl.replace(/Request$/, "")}Response`;
  return {
    typeUrl,
    signers: (bytes) => signers(decode(bytes)),
    ...(validate === undefined ? {} : { validate: (bytes) => validate(decode(bytes)) }),
    handle: (context, bytes) => {
      const message = decode(bytes);
      validate?.(message);
      const result = handle(context, message);
      const encoded = response === undefined ? new Uint8Array(0) : encodeMessage(response, result);
      return { typeUrl: responseTypeUrl, response: encoded };
    },
  };
}

/** Decodes a query's request. Throws `UnreadableRequest` if decoding fails. */
export function decodeRequest<T>(type: { decode(bytes: Uint8Array): T }, bytes: Uint8Array): T {
  try {
    return type.decode(bytes);
  } catch (thrown) {
    throw new UnreadableRequest(thrown);
  }
}

function decodeMessage<T>(decode: () => T): T {
  try {
    return decode();
  } catch (thrown) {
    throw ErrTxDecode(errorMessage(thrown));
  }
}

/** Parses an address in a query's request. A wrong prefix throws sdk/35, as {@link withSdkErrors} does. */
export function parseQueryAddress(prefix: string, text: string): Uint8Array {
  try {
    return withSdkErrors(() => parseAddress(prefix, text));
  } catch (error) {
    // Rethrow a registered error, because the query's error message contains its codespace.
    throw error instanceof ModuleError ? error : new QueryError(GrpcCode.Unknown, errorMessage(error));
  }
}

/** Runs `parse`. Converts a plain error to a query error with gRPC code 2 (Unknown), the SDK's code for unregistered errors. */
export function orQueryError<T>(parse: () => T): T {
  try {
    return parse();
  } catch (thrown) {
    throw new QueryError(GrpcCode.Unknown, errorMessage(thrown));
  }
}
