import { HookType } from "../../../../cosmos/proto/gen/neutron/harpoon/hooks.ts";
import { unregisteredError } from "../../runtime/errors.ts";

const NAMES = new Map<number, string>(Object.entries(HookType).map(([name, value]) => [value, name]));

/** All hook types in ascending order, with the unspecified one. */
export const HOOK_TYPES: readonly HookType[] = Object.values(HookType).toSorted((a, b) => a - b);

/** The name of a hook type; the number of an unknown one, as Go prints it. */
export function nameOfHook(hook: number): string {
  return NAMES.get(hook) ?? hook.toString();
}

/** Throws an unregistered error for a number that is no hook type, and for the unspecified one. */
export function requireHookType(hook: number): void {
  if (!NAMES.has(hook)) throw unregisteredError(`non-existing hook=${hook}`);
  if (hook === HookType.HOOK_TYPE_UNSPECIFIED) throw unregisteredError("unspecified hooks are not allowed");
}
