import type { JsonValue } from "../../../base/json.ts";
import { GenesisState } from "../../../proto/gen/feemarket/feemarket/v1/genesis.ts";
import type { Context } from "../../runtime/context.ts";
import {
  GenesisError,
  type GenesisForm,
  givesPart,
  printGenesis,
  readGenesis,
} from "../../runtime/genesis.ts";
import { enabledHeight, storedParams, storedState } from "./keeper.ts";
import { MODULE_NAME } from "./keys.ts";
import * as market from "./market.ts";
import * as params from "./params.ts";

const FORM: GenesisForm<GenesisState> = {
  module: MODULE_NAME,
  typeName: "feemarket.feemarket.v1.GenesisState",
  type: GenesisState,
};

/** Reads parameters and state; without them the deployed chain's parameters hold, with fees in `feeDenom`. */
export function initGenesis(context: Context, json: JsonValue | undefined, feeDenom: string): void {
  const genesis = readGenesis(FORM, json);
  const given =
    genesis?.params === undefined || !givesPart(json, "params")
      ? params.defaultParams(feeDenom)
      : params.fromWire(genesis.params);
  const error = params.findParamsError(given);
  if (error !== undefined) throw new GenesisError(`app_state.feemarket.params.${error.field}`, error.text);
  const state =
    genesis?.state === undefined || !givesPart(json, "state")
      ? market.initialState(given)
      : market.fromWire(genesis.state);
  if (BigInt(state.window.length) !== given.window || state.index >= given.window)
    throw new GenesisError("app_state.feemarket.state.window", `${given.window} entries were expected`);
  storedParams.set(context, given);
  storedState.set(context, state);
  enabledHeight.set(context, -1n);
}

/** Prints parameters and state. */
export function exportGenesis(context: Context): JsonValue {
  return printGenesis(FORM, {
    params: params.toWire(storedParams.get(context)),
    state: market.toWire(storedState.get(context)),
  });
}
