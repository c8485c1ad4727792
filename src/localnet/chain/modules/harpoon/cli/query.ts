import { InvalidArgumentError } from "commander";
import { HookType } from "../../../../../cosmos/proto/gen/neutron/harpoon/hooks.ts";
import { query, queryCommands } from "../../../../cli/module-query.ts";

/** `relaywatch query harpoon` (chain-extension-modules.md, "Hook subscription module"). */
export const queryHarpoonCommand = queryCommands({
  service: "neutron.harpoon.Query",
  fields: { hook_type: ["<hook-type> name or number of a hook type", parseHookType] },
  queries: {
    "subscribed-contracts": query(
      "SubscribedContracts",
      "list the contracts of a hook type in the order of the calls",
      "CONTRACT",
    ),
  },
});

/** Parses a hook type: a name as `HOOK_TYPE_AFTER_VALIDATOR_CREATED`, or its number. The chain checks the number. */
export function parseHookType(text: string): number {
  const known = Object.entries(HookType).find(([name]) => name === text);
  if (known !== undefined) return known[1];
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const names = Object.keys(HookType).slice(1).join(", ");
  throw new InvalidArgumentError(`a whole number from 0 to 999999999, or one of ${names} was expected`);
}
