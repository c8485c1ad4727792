import { utf8 } from "../../../../platform/base/bytes.ts";
import { registerError } from "../../runtime/errors.ts";

/** Name of the module, its store and its account, and the error codespace. */
export const MODULE_NAME = "transfer";

/** The module's port. */
export const PORT_ID = "transfer";

/** The version of the module's channels (ICS-20). */
export const VERSION = "ics20-1";

/** The port as text. */
export const PORT_KEY = Uint8Array.of(0x01);

/** `0x02 | hash` → `DenomTrace`. */
export const TRACES_PREFIX = Uint8Array.of(0x02);

/** `totalEscrowForDenom/{denom}` → `IntProto`: the total in all escrow accounts, by denomination. */
export const ESCROW_PREFIX = utf8("totalEscrowForDenom/");

export const ErrInvalidDenomForTransfer = registerError(
  MODULE_NAME,
  3,
  "invalid denomination for cross-chain transfer",
);
export const ErrInvalidVersion = registerError(MODULE_NAME, 4, "invalid ICS20 version");
export const ErrInvalidAmount = registerError(MODULE_NAME, 5, "invalid token amount");
export const ErrTraceNotFound = registerError(MODULE_NAME, 6, "denomination trace not found");
export const ErrSendDisabled = registerError(
  MODULE_NAME,
  7,
  "fungible token transfers from this chain are disabled",
);
export const ErrReceiveDisabled = registerError(
  MODULE_NAME,
  8,
  "fungible token transfers to this chain are disabled",
);
export const ErrInvalidMemo = registerError(MODULE_NAME, 11, "invalid memo");

// Codespaces of ibc-go that the module shares.
export const ErrIbcUnauthorized = registerError("ibc", 2, "unauthorized");
export const ErrIbcInsufficientFunds = registerError("ibc", 3, "insufficient funds");
export const ErrIbcUnknownRequest = registerError("ibc", 4, "unknown request");
export const ErrIbcInvalidAddress = registerError("ibc", 5, "invalid address");
export const ErrIbcInvalidCoins = registerError("ibc", 6, "invalid coins");
export const ErrIbcInvalidRequest = registerError("ibc", 8, "invalid request");
export const ErrIbcInvalidType = registerError("ibc", 12, "invalid type");
export const ErrInvalidPort = registerError("port", 4, "invalid port");
export const ErrInvalidChannelOrdering = registerError("channel", 6, "invalid channel ordering");
export const ErrSequenceSendNotFound = registerError("channel", 10, "sequence send not found");
