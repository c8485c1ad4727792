import { createItem, messageCodec, rememberingCodec } from "../store/collections.ts";
import type { Context } from "./context.ts";
import type { ModuleError } from "./errors.ts";

export interface ParamsDefinition<T> {
  readonly store: string;
  readonly key: Uint8Array;
  /** Generated codec of the parameters' protobuf message, which also encodes the stored parameters. */
  readonly type: Parameters<typeof messageCodec<T>>[0];
  /** Parameters that genesis stores if the document contains none. */
  readonly defaults: T;
  /** Parameters that `get` returns before any have been stored. Default: `defaults`. */
  readonly unset?: T;
  /** Throws `ModuleError` for invalid parameters in a message or genesis document. By default, all parameters are valid. */
  readonly validate?: (params: T) => void;
}

export interface ModuleParams<T> extends Required<ParamsDefinition<T>> {
  /** Returns the stored parameters, or `unset` before any are stored. */
  readonly get: (context: Context) => T;
  /** Validates and stores parameters. Throws `ModuleError` if a parameter is invalid. */
  readonly set: (context: Context, params: T) => void;
  readonly query: (context: Context) => { params: T };
  /** Returns a handler for MsgUpdateParams, which replaces all parameters. */
  readonly update: (options: UpdateOptions<T>) => (context: Context, message: UpdateMessage<T>) => void;
}

/** Options for a module's MsgUpdateParams handler. */
export interface UpdateOptions<T> {
  readonly authority: string;
  /** Creates the error for a message that an account other than the authority signed. */
  readonly signerError: (words: string) => ModuleError;
  /** Parameters that the update stores if the message contains none. Default: `unset`. */
  readonly absent?: T;
  /** Checks the message's content. This check runs before the check that the authority signed the message. */
  readonly check?: (message: { readonly authority: string; readonly params: T }) => void;
}

interface UpdateMessage<T> {
  readonly authority: string;
  readonly params: T | undefined;
}

export function defineParams<T extends object>(definition: ParamsDefinition<T>): ModuleParams<T> {
  const { store, key, type, defaults, unset = defaults, validate = () => undefined } = definition;
  const item = createItem(store, key, rememberingCodec(messageCodec<T>(type)));
  const get = (context: Context): T => item.get(context) ?? unset;
  const set = (context: Context, params: T): void => {
    validate(params);
    item.set(context, params);
  };
  return {
    ...definition,
    unset,
    validate,
    get,
    set,
    query: (context) => ({ params: get(context) }),
    update:
      ({ authority: expected, signerError, absent = unset, check }) =>
      (context, { authority, params = absent }) => {
        check?.({ authority, params });
        if (authority !== expected)
          throw signerError(`invalid authority; expected ${expected}, got ${authority}`);
        set(context, params);
      },
  };
}
