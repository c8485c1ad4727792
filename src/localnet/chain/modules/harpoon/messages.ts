import { errorText } from "../../../../platform/base/errors.ts";
import type { HookType } from "../../../../cosmos/proto/gen/neutron/harpoon/hooks.ts";
import type {
  HookSubscription,
  MsgManageHookSubscription,
} from "../../../../cosmos/proto/gen/neutron/harpoon/tx.ts";
import { parseAddress } from "../../runtime/address.ts";
import { unregisteredError, wrapErrors } from "../../runtime/errors.ts";
import { nameOfHook, requireHookType } from "./hook-type.ts";

/**
 * Checks MsgManageHookSubscription in Go's order and returns its subscription. Go panics when the message has none; this
 * is an error of the message here.
 */
export function validateManageHookSubscription(
  { authority, hookSubscription }: MsgManageHookSubscription,
  bech32Prefix: string,
): HookSubscription {
  return wrapErrors(
    (error) => error.wrap("failed to validate manage hook subscription message"),
    () => {
      requireAddress(bech32Prefix, authority, "authority is invalid");
      if (hookSubscription === undefined) throw unregisteredError("hook subscription is empty");
      requireAddress(
        bech32Prefix,
        hookSubscription.contractAddress,
        "hook subscription contractAddress is invalid",
      );
      requireUnique(hookSubscription.hooks);
      for (const hook of hookSubscription.hooks) requireExisting(hook);
      return hookSubscription;
    },
  );
}

function requireAddress(bech32Prefix: string, text: string, words: string): void {
  try {
    parseAddress(bech32Prefix, text);
  } catch (thrown) {
    throw unregisteredError(`${words}: ${errorText(thrown)}`);
  }
}

function requireUnique(hooks: readonly HookType[]): void {
  const seen = new Set<number>();
  for (const hook of hooks) {
    if (seen.has(hook))
      throw unregisteredError(`subscription hooks are not unique: non-unique hook=${nameOfHook(hook)}`);
    seen.add(hook);
  }
}

function requireExisting(hook: HookType): void {
  wrapErrors(
    (error) => error.wrap("non-existing hook type"),
    () => requireHookType(hook),
  );
}
