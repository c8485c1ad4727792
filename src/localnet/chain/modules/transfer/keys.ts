import { Params } from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/transfer.ts";
import { utf8 } from "../../../../platform/base/bytes.ts";
import { errorsOf } from "../../runtime/errors.ts";
import { defineParams, type ModuleParams } from "../../runtime/params.ts";

/** Name of the module, its store and its account, and the error codespace. */
export const MODULE_NAME = "transfer";

/** The module's port. */
export const PORT_ID = "transfer";

/** The version of the module's channels (ICS-20). */
export const VERSION = "ics20-1";

/** Settings that allow coins to leave and enter the chain. By default, both are allowed. */
export const moduleParams: ModuleParams<Params> = defineParams({
  store: MODULE_NAME,
  key: utf8("params"),
  type: Params,
  defaults: { sendEnabled: true, receiveEnabled: true },
});

const register = errorsOf(MODULE_NAME);
export const ErrInvalidDenomForTransfer = register(3, "invalid denomination for cross-chain transfer");
export const ErrInvalidVersion = register(4, "invalid ICS20 version");
export const ErrInvalidAmount = register(5, "invalid token amount");
export const ErrTraceNotFound = register(6, "denomination trace not found");
export const ErrSendDisabled = register(7, "fungible token transfers from this chain are disabled");
export const ErrReceiveDisabled = register(8, "fungible token transfers to this chain are disabled");
export const ErrInvalidMemo = register(11, "invalid memo");
export const ErrInvalidPort = errorsOf("port")(4, "invalid port");
