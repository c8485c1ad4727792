import { concat, utf8 } from "../../../../platform/base/bytes.ts";

/** Name of the module and of its store, and codespace of its errors. */
export const MODULE_NAME = "contractmanager";

/** `0x01` | address (text) | `/` | id (8 bytes, big-endian) → `Failure`. */
export const FAILURES_PREFIX = Uint8Array.of(1);

/** `Params`. */
export const PARAMS_KEY = Uint8Array.of(2);

/** Returns the prefix of the failures of one contract. */
export function failuresOf(address: string): Uint8Array {
  return concat(FAILURES_PREFIX, utf8(`${address}/`));
}
