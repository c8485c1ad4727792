/** Name of the module and its store. */
export const MODULE_NAME = "feemarket";

/** Module account that holds a transaction's fee between the ante step and the post step. */
export const ESCROW_NAME = "feemarket-fee-collector";

export const PARAMS_KEY = Uint8Array.of(1);
export const STATE_KEY = Uint8Array.of(2);
/** Key for the height up to which no fee is charged. The value is decimal text. */
export const ENABLED_HEIGHT_KEY = Uint8Array.of(3);
