import { type ContractCode, NO_RESPONSE } from "../modules/wasm/contract.ts";
import { byName } from "./messages.ts";

/**
 * A contract that only consumes gas. With this contract, a local chain can fill its blocks at little CPU cost. The contract's only
 * message is `burn {gas}`, with the gas as a decimal string or a number.
 */
export const gasBurner: ContractCode = {
  name: "gas-burner",
  instantiate: () => NO_RESPONSE,
  execute: (scope, _caller, message) => execute(scope, message),
};

const execute = byName("ExecuteMsg", {
  burn: (scope, fields) => {
    scope.useGas(fields.member("gas").required().asUint64());
    return NO_RESPONSE;
  },
});
