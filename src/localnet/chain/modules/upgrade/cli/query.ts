import { Argument, type Command } from "commander";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { column } from "../../../../../platform/cli/table.ts";
import { type AnswerTable, serviceQueryCommands } from "../../../../cli/module-query.ts";

/** `relaywatch query upgrade`. Names are those of a Cosmos SDK binary. */
export function queryUpgradeCommand(context: CliContext): Command {
  return serviceQueryCommands(
    {
      service: "cosmos.upgrade.v1beta1.Query",
      arguments: { name: () => new Argument("<name>", "name of the upgrade") },
      tables: UPGRADE_TABLES,
      queries: [
        { name: "plan", rpc: "CurrentPlan", description: "print the planned upgrade" },
        {
          name: "applied",
          rpc: "AppliedPlan",
          description: "print the height of an upgrade",
          arguments: ["name"],
        },
        { name: "authority", rpc: "Authority", description: "print the account that plans upgrades" },
      ],
    },
    context,
  );
}

/** Tables of `cosmos.upgrade.v1beta1.Query`. */
const UPGRADE_TABLES = {
  CurrentPlan: {
    path: "plan",
    columns: [column("NAME", "name"), column("HEIGHT", "height"), column("INFO", "info")],
  },
  AppliedPlan: { path: "", columns: [column("HEIGHT", "height")] },
  Authority: { path: "", columns: [column("ADDRESS", "address")] },
} as const satisfies Readonly<Record<string, AnswerTable>>;
