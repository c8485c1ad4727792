import { Argument, InvalidArgumentError } from "commander";
import { HookType } from "../../../../../cosmos/proto/gen/neutron/harpoon/hooks.ts";

/** The argument `<hook-type>`. */
export function hookTypeArgument(): Argument {
  return new Argument("<hook-type>", "name or number of a hook type").argParser(parseHookType);
}

/** The argument `[hook-type...]`. */
export function hookTypesArgument(): Argument {
  return new Argument("[hook-type...]", "names or numbers of hook types").argParser(
    (text: string, previous: readonly number[] | undefined) => [...(previous ?? []), parseHookType(text)],
  );
}

/** Parses a hook type: a name as `HOOK_TYPE_AFTER_VALIDATOR_CREATED`, or its number. The chain checks the number. */
function parseHookType(text: string): number {
  const known = Object.entries(HookType).find(([name]) => name === text);
  if (known !== undefined) return known[1];
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const names = Object.keys(HookType).slice(1).join(", ");
  throw new InvalidArgumentError(`a number or one of ${names} was expected`);
}
