import type { JsonValue } from "../../../platform/base/json.ts";
import { parseAddress } from "./address.ts";
import type { ChainNames, Context } from "./context.ts";
import { orThrowWith, unregisteredError, wrapErrors } from "./errors.ts";
import { atPath, type GenesisSchema, partOr } from "./genesis.ts";
import type { ModuleParams, UpdateOptions } from "./params.ts";

/** The chain's names and the account that may change parameters, which every module with parameters needs. */
export type ParamsModuleOptions = Pick<ChainNames, "chainName" | "bech32Prefix" | "authority">;

/**
 * Creates a function that checks a MsgUpdateParams in the chain's own modules, first the authority's address, then the parameters.
 * Errors start with "failed to validate MsgUpdateParams".
 */
export function checkUpdate<P>(
  bech32Prefix: string,
  checkParams: (params: P) => void = () => undefined,
): NonNullable<UpdateOptions<P>["check"]> {
  return ({ authority, params }) =>
    wrapErrors("failed to validate MsgUpdateParams", () => {
      requireAuthorityAddress(bech32Prefix, authority);
      checkParams(params);
    });
}

/** Throws an error without a registered code if the authority is not an address on this chain. */
export function requireAuthorityAddress(bech32Prefix: string, authority: string): void {
  requireAddress(bech32Prefix, authority, "authority is invalid");
}

/** Throws an unregistered error that starts with `words` if the text is not an address on this chain. */
export function requireAddress(bech32Prefix: string, text: string, words: string): void {
  orThrowWith(unregisteredError, words, () => parseAddress(bech32Prefix, text));
}

/** Stores the params from a genesis state, or the definition's defaults. Throws `GenesisError` if the params are invalid. */
export function initParams<P>(
  context: Context,
  json: JsonValue | undefined,
  schema: Pick<GenesisSchema<{ params: P | undefined }>, "module" | "read">,
  params: ModuleParams<P>,
): void {
  const given = partOr(json, "params", schema.read(json)?.params, params.defaults);
  atPath(`app_state.${schema.module}.params`, () => params.set(context, given));
}

/** Exports a genesis state that contains only params. */
export function exportParams<P>(
  context: Context,
  schema: GenesisSchema<{ params: P | undefined }>,
  params: ModuleParams<P>,
): JsonValue {
  return schema.print({ params: params.get(context) });
}
