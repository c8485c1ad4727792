import type { JsonValue } from "../../../platform/base/json.ts";
import { errorText } from "../../../platform/base/errors.ts";
import { parseAddress } from "./address.ts";
import type { Context } from "./context.ts";
import { unregisteredError, wrapErrors } from "./errors.ts";
import { atPath, type GenesisSchema, partOr, printGenesis, readGenesis } from "./genesis.ts";
import type { ModuleParams, UpdateOptions } from "./params.ts";

/** Names and account that all modules of a chain get. */
export interface ParamsModuleOptions {
  readonly chainName: string;
  /** Prefix of account addresses. */
  readonly bech32Prefix: string;
  /** The account that may change the params, bech32. */
  readonly authority: string;
}

/** The check of MsgUpdateParams in the chain's own modules: the authority's address, then the params. Its errors name the message. */
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

/** Throws an unregistered error for an authority that is not an address of the chain. */
export function requireAuthorityAddress(bech32Prefix: string, authority: string): void {
  try {
    parseAddress(bech32Prefix, authority);
  } catch (error) {
    throw unregisteredError(`authority is invalid: ${errorText(error)}`);
  }
}

/** Stores a genesis state's params, by default the definition's. Throws `GenesisError` for invalid params. */
export function initParams<P>(
  context: Context,
  json: JsonValue | undefined,
  schema: GenesisSchema<{ params: P | undefined }>,
  params: ModuleParams<P>,
): void {
  const given = partOr(json, "params", readGenesis(schema, json)?.params, params.defaults);
  atPath(`app_state.${schema.module}.params`, () => params.set(context, given));
}

/** Prints a genesis state that has nothing but params. */
export function exportParams<P>(
  context: Context,
  schema: GenesisSchema<{ params: P | undefined }>,
  params: ModuleParams<P>,
): JsonValue {
  return printGenesis(schema, { params: params.get(context) });
}
