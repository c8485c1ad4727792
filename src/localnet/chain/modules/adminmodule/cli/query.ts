import { query, queryCommands } from "../../../../cli/module-query.ts";

/** `relaywatch query adminmodule`. */
export const queryAdminModuleCommand = queryCommands({
  service: "cosmos.adminmodule.adminmodule.Query",
  queries: {
    admins: query("Admins", "list the accounts that may submit proposals", "ADMIN"),
    archivedproposals: query("ArchivedProposals", "list the executed proposals", {
      columns: "PROPOSAL id, TIME submit_time, MESSAGES messages",
    }),
  },
});
