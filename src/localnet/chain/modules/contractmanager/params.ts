import { Params } from "../../../../cosmos/proto/gen/neutron/contractmanager/params.ts";
import { defineParams, type ModuleParams } from "../../runtime/params.ts";
import { MODULE_NAME } from "./keeper.ts";

/** `sudo_call_gas_limit`: the gas limit for each sudo call on behalf of the chain. */
export const moduleParams: ModuleParams<Params> = defineParams({
  store: MODULE_NAME,
  key: Uint8Array.of(2),
  type: Params,
  defaults: { sudoCallGasLimit: 1_000_000n },
});
