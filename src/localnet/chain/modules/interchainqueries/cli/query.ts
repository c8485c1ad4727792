import { Option } from "commander";
import { queryIdArgument } from "../../../../../platform/cli/options.ts";
import { query, queryCommands } from "../../../../cli/module-query.ts";

/** `relaywatch query interchainqueries` (chain-extension-modules.md, "Interchain queries module: queries"). */
export const queryInterchainqueriesCommand = queryCommands({
  service: "neutron.interchainqueries.Query",
  fields: {
    query_id: queryIdArgument,
    connection_id: "<connection-id> IBC connection to the remote chain",
  },
  queries: {
    params: query("Params", "print the module's parameters", { isYaml: true }),
    "registered-queries": query("RegisteredQueries", "list registered queries", {
      options: {
        owners: () =>
          new Option("--owners <address>", "only queries of this owner; repeat for several")
            .default([], "all")
            .argParser((owner: string, owners: readonly string[]) => [...owners, owner]),
        connection_id: () =>
          new Option("--connection_id <id>", "only queries over this connection").default("", "all"),
      },
    }),
    "registered-query": query("RegisteredQuery", "print one registered query"),
    "query-result": query("QueryResult", "print the last result of a KV query"),
    "query-last-remote-height": query(
      "LastRemoteHeight",
      "print the latest remote height that the light client of a connection knows",
    ),
  },
});
