import { utf8 } from "../../../../platform/base/bytes.ts";

/** Name of the module, of its store and of its account, and codespace of its errors. */
export const MODULE_NAME = "transfer";

/** The port of the module. */
export const PORT_ID = "transfer";

/** The version of its channels (ICS-20). */
export const VERSION = "ics20-1";

/** The port as text. */
export const PORT_KEY = Uint8Array.of(0x01);

/** `0x02 | hash` → `DenomTrace`. */
export const TRACES_PREFIX = Uint8Array.of(0x02);

/** `totalEscrowForDenom/{denom}` → `IntProto`: coins of a denomination in all escrow accounts. */
export const ESCROW_PREFIX = utf8("totalEscrowForDenom/");

/** `ibc.applications.transfer.v1.Params`. */
export const PARAMS_KEY = utf8("params");
