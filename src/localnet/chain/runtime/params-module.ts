import type { JsonValue } from "../../../platform/base/json.ts";
import { errorText } from "../../../platform/base/errors.ts";
import { parseAddress } from "./address.ts";
import type { Context } from "./context.ts";
import { unregisteredError, wrapErrors } from "./errors.ts";
import { atPath, type GenesisSchema, partOr, printGenesis, readGenesis } from "./genesis.ts";
import type { ModuleParams, UpdateOptions } from "./params.ts";

/** Names and account that all of a chain's modules receive. */
export interface ParamsModuleOptions {
  readonly chainName: string;
  /** Prefix of account addresses. */
  readonly bech32Prefix: string;
  /** Bech32 address of the account that may change the params. */
  readonly authority: string;
}

/**
 * Checks MsgUpdateParams in the chain's own modules: first the authority's address, then the params. The errors name the message.
 */
export function checkUpdate<P>(
  bech32Prefix: string,
  checkParams: (params: P) => void,
): NonNullable<UpdateOptions<P>["check"]> {
  return ({ authority, params }) =>
    wrapErrors(
      (error) => error.wrap("failed to validate MsgUpdateParams"),
      () => {
        requireAuthorityAddress(bech32Prefix, authority);
        checkParams(params);
      },
    );
}

/** Throws an unregistered error if the authority is not an address on this chain. */
export function requireAuthorityAddress(bech32Prefix: string, authority: string): void {
  try {
    parseAddress(bech32Prefix, authority);
  } catch (error) {
    throw unregisteredError(`authority is invalid: ${errorText(error)}`);
  }
}

/** Stores a genesis state's params, or the definition's by default. Throws `GenesisError` for invalid params. */
export function initParams<P>(
  context: Context,
  json: JsonValue | undefined,
  schema: GenesisSchema<{ params: P | undefined }>,
  params: ModuleParams<P>,
): void {
  const given = partOr(json, "params", readGenesis(schema, json)?.params, params.defaults);
  atPath(`app_state.${schema.module}.params`, () => params.set(context, given));
}

/** Exports a genesis state that consists only of params. */
export function exportParams<P>(
  context: Context,
  schema: GenesisSchema<{ params: P | undefined }>,
  params: ModuleParams<P>,
): JsonValue {
  return printGenesis(schema, { params: params.get(context) });
}
