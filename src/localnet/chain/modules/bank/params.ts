import { Params } from "../../../../cosmos/proto/gen/cosmos/bank/v1beta1/bank.ts";
import { createItem, messageCodec, rememberingCodec } from "../../store/collections.ts";
import { MODULE_NAME, PARAMS_KEY } from "./keys.ts";

/** Parameters of a genesis without any: every denomination may be sent. */
export const DEFAULT_PARAMS: Params = { sendEnabled: [], defaultSendEnabled: true };

/** The stored parameters. `sendEnabled` is always empty: the entries are a map of their own, as in the SDK. */
export const storedParams = createItem(MODULE_NAME, PARAMS_KEY, rememberingCodec(messageCodec(Params)));
