import { Argument, type Command, InvalidArgumentError } from "commander";
import { HookType } from "../../../../../cosmos/proto/gen/neutron/harpoon/hooks.ts";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { type AnswerTable, serviceQueryCommands } from "../../../../cli/module-query.ts";
import { cellText } from "../../../../../platform/cli/table.ts";

/** `relaywatch query harpoon` (chain-extension-modules.md, "Hook subscription module"). */
export function queryHarpoonCommand(context: CliContext): Command {
  return serviceQueryCommands(
    {
      service: "neutron.harpoon.Query",
      arguments: { hook_type: hookTypeArgument },
      tables: HARPOON_TABLES,
      queries: [
        {
          name: "subscribed-contracts",
          rpc: "SubscribedContracts",
          description: "list the contracts of a hook type in the order of the calls",
          arguments: ["hook_type"],
        },
      ],
    },
    context,
  );
}

/** Tables of `neutron.harpoon.Query`. */
const HARPOON_TABLES = {
  SubscribedContracts: {
    path: "contract_addresses",
    columns: [{ title: "CONTRACT", cell: cellText }],
  },
} as const satisfies Readonly<Record<string, AnswerTable>>;

/** The argument `<hook-type>`. */
function hookTypeArgument(): Argument {
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
  throw new InvalidArgumentError(`a whole number from 0 to 999999999, or one of ${names} was expected`);
}
