import type { JsonValue } from "../../../../platform/base/json.ts";
import { GenesisState } from "../../../../cosmos/proto/gen/feemarket/feemarket/v1/genesis.ts";
import type { Context } from "../../runtime/context.ts";
import {
  GenesisError,
  type GenesisSchema,
  partOr,
  printGenesis,
  readGenesis,
} from "../../runtime/genesis.ts";
import { enabledHeight, storedState } from "./keeper.ts";
import { MODULE_NAME } from "./keys.ts";
import * as market from "./market.ts";
import { defaultParams, findParamsError, fromWire, storedParams, toWire } from "./params.ts";

const FORM: GenesisSchema<GenesisState> = {
  module: MODULE_NAME,
  typeName: "feemarket.feemarket.v1.GenesisState",
  type: GenesisState,
};

/**
 * Reads parameters and state. Without parameters, those of the deployed chain apply with `feeDenom`; without a state, the
 * market starts at the minimum price.
 */
export function initGenesis(context: Context, json: JsonValue | undefined, feeDenom: string): void {
  const genesis = readGenesis(FORM, json);
  const params = fromWire(partOr(json, "params", genesis?.params, toWire(defaultParams(feeDenom))));
  const error = findParamsError(params);
  if (error !== undefined) throw new GenesisError(`app_state.feemarket.params.${error.field}`, error.text);
  const initial = market.toWire(market.initialState(params));
  const state = market.fromWire(partOr(json, "state", genesis?.state, initial));
  if (BigInt(state.window.length) !== params.window || state.index >= params.window)
    throw new GenesisError("app_state.feemarket.state.window", `${params.window} entries were expected`);
  storedParams.set(context, params);
  storedState.set(context, state);
  enabledHeight.set(context, -1n);
}

/** Exports parameters and state. */
export function exportGenesis(context: Context): JsonValue {
  return printGenesis(FORM, {
    params: toWire(storedParams.get(context)),
    state: market.toWire(storedState.get(context)),
  });
}
