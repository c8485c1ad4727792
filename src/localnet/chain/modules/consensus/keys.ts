import { utf8 } from "../../../../platform/base/bytes.ts";
import { BLOCK_RECORD_STORE } from "../../runtime/block-record.ts";

/** Name of the module and of its store. The runtime keeps the record of the last block in the same store. */
export const MODULE_NAME = BLOCK_RECORD_STORE;

export const PARAMS_KEY = utf8("Consensus");
