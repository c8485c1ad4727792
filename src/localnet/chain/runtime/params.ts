import { createItem, messageCodec, rememberingCodec } from "../store/collections.ts";
import type { Context } from "./context.ts";

/** The one definition of a module's parameters. `params.ts` of the module contains it. */
export interface ParamsDefinition<T> {
  /** Name of the module's store. */
  readonly store: string;
  readonly key: Uint8Array;
  /** The generated protobuf message; its encoding is stored. */
  readonly type: Parameters<typeof messageCodec<T>>[0];
  /** Parameters of a genesis document without any. */
  readonly defaults: T;
  /** Parameters before any are stored. Default: `defaults`. */
  readonly unset?: T;
  /** Checks parameters of a message or of a genesis document. Throws `ModuleError`. Default: everything is valid. */
  readonly validate?: (params: T) => void;
}

/** The parameters of a module, with their definition. */
export interface ModuleParams<T> extends Required<ParamsDefinition<T>> {
  /** Returns the stored parameters, or `unset` before any are stored. */
  readonly get: (context: Context) => T;
  /** Stores parameters. Throws `ModuleError` when they are invalid. */
  readonly set: (context: Context, params: T) => void;
}

/** Creates the parameters of a module from their definition. */
export function defineParams<T extends object>(definition: ParamsDefinition<T>): ModuleParams<T> {
  const { store, key, type, defaults, unset = defaults, validate = () => undefined } = definition;
  const item = createItem(store, key, rememberingCodec(messageCodec<T>(type)));
  return {
    ...definition,
    unset,
    validate,
    get: (context) => item.get(context) ?? unset,
    set: (context, params) => {
      validate(params);
      item.set(context, params);
    },
  };
}
