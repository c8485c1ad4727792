import { type ContractCode, NO_RESPONSE } from "../modules/wasm/contract.ts";
import { readMessage, unknownVariant } from "./messages.ts";

/**
 * A contract that only consumes gas, so that a local chain can fill its blocks at little CPU cost. Execute: `burn {gas}`, with
 * the gas as decimal text or as a number.
 */
export const gasBurner: ContractCode = {
  name: "gas-burner",
  instantiate: () => NO_RESPONSE,
  execute: (scope, _caller, message) => {
    const [name, fields] = readMessage(message);
    if (name !== "burn") throw unknownVariant("ExecuteMsg", name, ["burn"]);
    scope.useGas(fields.member("gas").required().asUint64());
    return NO_RESPONSE;
  },
};
