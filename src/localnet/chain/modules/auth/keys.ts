import { utf8 } from "../../../../platform/base/bytes.ts";

/** Name of the module and of its member in the genesis document. */
export const MODULE_NAME = "auth";
/** Name of the store, which differs from the module's name, as in the SDK. */
export const STORE_NAME = "acc";

export const PARAMS_KEY = Uint8Array.of(0);
/** Accounts: `0x01 | address`. The value is an Any. */
export const ACCOUNT_PREFIX = Uint8Array.of(1);
/** Key under which the next account number is stored, as 8 bytes big-endian. */
export const NEXT_NUMBER_KEY = Uint8Array.of(2);
/** Addresses by account number: `"accountNumber" | number`, with the number as 8 bytes big-endian. */
export const NUMBER_PREFIX = utf8("accountNumber");
