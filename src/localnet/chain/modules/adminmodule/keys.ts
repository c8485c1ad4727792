import { utf8 } from "../../../../platform/base/bytes.ts";

/** Name of the module and of its store. Its account is the authority of the chain. */
export const MODULE_NAME = "adminmodule";

/** `Admin-` | address as text: the address. */
export const ADMINS = utf8("Admin-");
/** The id of the next proposal, 8 bytes. */
export const PROPOSAL_ID = Uint8Array.of(0x04);
