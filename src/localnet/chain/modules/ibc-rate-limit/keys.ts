/** Name of the module and of its store, codespace of its errors, and attribute of its event. */
export const MODULE_NAME = "rate-limited-ibc";

/** `neutron.ibcratelimit.v1beta1.Params`. */
export const PARAMS_KEY = Uint8Array.of(0x01);
