import { GenesisState } from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/genesis.ts";
import { unreachable } from "../../../../platform/base/errors.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import { areValidCoins, parseCoins, toWireCoin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { atPath, type GenesisSchema, partOr, printGenesis, readGenesis } from "../../runtime/genesis.ts";
import { validatePortId } from "../ibc/host/identifiers.ts";
import { traceHash, validateReceivedDenom } from "./denom.ts";
import { MODULE_NAME, PORT_ID } from "./keys.ts";
import { DEFAULT_PARAMS, escrows, paramsOf, port, storedParams, traces } from "./state.ts";

const FORM: GenesisSchema<GenesisState> = {
  module: MODULE_NAME,
  typeName: "ibc.applications.transfer.v1.GenesisState",
  type: GenesisState,
};

/** Reads the genesis state. Throws `GenesisError` for a trace that is invalid or given twice, and for invalid coins. */
export function initGenesis(context: Context, json: JsonValue | undefined): void {
  const state = readGenesis(FORM, json);
  const path = `app_state.${MODULE_NAME}`;
  const portId = state?.portId === undefined || state.portId === "" ? PORT_ID : state.portId;
  atPath(`${path}.port_id`, () => validatePortId(portId));
  port.set(context, portId);
  storedParams.set(context, partOr(json, "params", state?.params, DEFAULT_PARAMS));
  for (const [index, trace] of (state?.denomTraces ?? []).entries()) {
    atPath(`${path}.denom_traces[${index}]`, () => {
      validateReceivedDenom(trace.baseDenom);
      const hash = traceHash(trace);
      if (traces.has(context, hash)) throw new Error("the trace is given twice");
      traces.set(context, hash, trace);
    });
  }
  atPath(`${path}.total_escrowed`, () => {
    const coins = parseCoins(state?.totalEscrowed ?? []);
    if (!areValidCoins(coins))
      throw new Error("coins in ascending order, with amounts above zero, were expected");
    for (const { denom, amount } of coins) escrows.set(context, denom, amount);
  });
}

/** Prints the complete state of the module. */
export function exportGenesis(context: Context): JsonValue {
  return printGenesis(FORM, {
    portId: port.get(context) ?? unreachable("the port is stored from genesis on"),
    denomTraces: [...traces.entries(context)].map(([, trace]) => trace),
    params: paramsOf(context),
    totalEscrowed: [...escrows.entries(context)].map(([denom, amount]) => toWireCoin({ denom, amount })),
  });
}
