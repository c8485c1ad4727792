import type { JsonValue } from "../../../../platform/base/json.ts";
import { GenesisState } from "../../../../cosmos/proto/gen/neutron/contractmanager/genesis.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { atPath, type GenesisSchema, partOr, printGenesis, readGenesis } from "../../runtime/genesis.ts";
import { allFailures, DEFAULT_PARAMS, getFailure, paramsOf, setFailure, storedParams } from "./failures.ts";
import { MODULE_NAME } from "./keys.ts";

const FORM: GenesisSchema<GenesisState> = {
  module: MODULE_NAME,
  typeName: "neutron.contractmanager.GenesisState",
  type: GenesisState,
};

/**
 * Stores params and failures. Throws `GenesisError` for a failure of no account, and for two of the same contract and number.
 * The numbers are kept: contracts know their failures by them.
 */
export function initGenesis(context: Context, json: JsonValue | undefined, bech32Prefix: string): void {
  const state = readGenesis(FORM, json);
  storedParams.set(context, partOr(json, "params", state?.params, DEFAULT_PARAMS));
  for (const [index, failure] of (state?.failuresList ?? []).entries()) {
    atPath(`app_state.${MODULE_NAME}.failures_list[${index}]`, () => {
      parseAddress(bech32Prefix, failure.address);
      if (getFailure(context, failure.address, failure.id) !== undefined)
        throw new Error("duplicated address for failure");
      setFailure(context, failure);
    });
  }
}

/** Prints params and failures. */
export function exportGenesis(context: Context): JsonValue {
  return printGenesis(FORM, { params: paramsOf(context), failuresList: [...allFailures(context)] });
}
