import { utf8 } from "../../../../platform/base/bytes.ts";

/** Name of the module and of its store, and codespace of its errors. */
export const MODULE_NAME = "harpoon";

/** `subscriptions` | hook type (4 bytes, big-endian) → `HookSubscriptions`. */
export const SUBSCRIPTIONS_PREFIX = utf8("subscriptions");
