import { Params } from "../../../../cosmos/proto/gen/cosmos/bank/v1beta1/bank.ts";
import { defineParams, type ModuleParams } from "../../runtime/params.ts";
import { MODULE_NAME } from "./balances.ts";

/**
 * `defaultSendEnabled`: whether denominations without an entry may be sent. The stored `sendEnabled` is always empty because, as
 * in the SDK, the entries are stored in a separate map.
 */
export const moduleParams: ModuleParams<Params> = defineParams({
  store: MODULE_NAME,
  key: Uint8Array.of(5),
  type: Params,
  defaults: { sendEnabled: [], defaultSendEnabled: true },
  unset: { sendEnabled: [], defaultSendEnabled: false },
});
