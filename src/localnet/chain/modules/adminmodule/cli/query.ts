import type { Command } from "commander";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { cellText, column } from "../../../../../platform/cli/table.ts";
import { type AnswerTable, serviceQueryCommands } from "../../../../cli/module-query.ts";

/** `relaywatch query adminmodule`. */
export function queryAdminModuleCommand(context: CliContext): Command {
  return serviceQueryCommands(
    {
      service: "cosmos.adminmodule.adminmodule.Query",
      arguments: {},
      tables: ADMIN_TABLES,
      queries: [
        { name: "admins", rpc: "Admins", description: "list the accounts that may submit proposals" },
        { name: "archivedproposals", rpc: "ArchivedProposals", description: "list the executed proposals" },
      ],
    },
    context,
  );
}

/** Tables of `cosmos.adminmodule.adminmodule.Query`. */
const ADMIN_TABLES = {
  Admins: { path: "admins", columns: [{ title: "ADMIN", cell: cellText }] },
  ArchivedProposals: {
    path: "proposals",
    columns: [column("PROPOSAL", "id"), column("TIME", "submit_time"), column("MESSAGES", "messages")],
  },
} as const satisfies Readonly<Record<string, AnswerTable>>;
