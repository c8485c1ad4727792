import { Params } from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/transfer.ts";
import { utf8 } from "../../../../platform/base/bytes.ts";
import { defineParams, type ModuleParams } from "../../runtime/params.ts";
import { MODULE_NAME } from "./keys.ts";

/** Whether coins may leave and enter the chain. By default, both are allowed. */
export const moduleParams: ModuleParams<Params> = defineParams({
  store: MODULE_NAME,
  key: utf8("params"),
  type: Params,
  defaults: { sendEnabled: true, receiveEnabled: true },
});
