import type { Command } from "commander";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { hookTypeArgument } from "./hook-types.ts";
import { serviceQueryCommands } from "../../../../cli/service-query.ts";
import type { AnswerTable } from "../../../../cli/answer-table.ts";
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
