/** Name of the module and its store. Keys match the SDK's. */
export const MODULE_NAME = "slashing";

export const PARAMS = Uint8Array.of(0);
/** `| length | consensus address`: the signing info. */
export const SIGNING_INFOS = Uint8Array.of(1);
/** `| length | consensus address | number of the chunk (8 bytes, little-endian)`: the chunk's bitmap of missed blocks. */
export const MISSED_BLOCKS = Uint8Array.of(2);
/** `| length | consensus address`: the packed public key. */
export const PUBLIC_KEYS = Uint8Array.of(3);
