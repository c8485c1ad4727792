import { Argument, type Command, Option } from "commander";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { queryIdArgument } from "../../../../../platform/cli/options.ts";
import { type ServiceQuery, serviceQueryCommands } from "../../../../cli/module-query.ts";

/** `relaywatch query interchainqueries` (chain-extension-modules.md, "Interchain queries module: queries"). */
export function queryInterchainqueriesCommand(context: CliContext): Command {
  return serviceQueryCommands(
    { service: "neutron.interchainqueries.Query", arguments: ARGUMENTS, queries: QUERIES },
    context,
  );
}

const ARGUMENTS = {
  query_id: queryIdArgument,
  connection_id: () => new Argument("<connection-id>", "IBC connection to the remote chain"),
};

const QUERIES: readonly ServiceQuery<keyof typeof ARGUMENTS, string>[] = [
  { name: "params", rpc: "Params", description: "print the module's parameters" },
  {
    name: "registered-queries",
    rpc: "RegisteredQueries",
    description: "list registered queries",
    options: {
      owners: () =>
        new Option("--owners <address>", "only queries of this owner; repeat for several")
          .default([], "all")
          .argParser((owner: string, owners: readonly string[]) => [...owners, owner]),
      connection_id: () =>
        new Option("--connection_id <id>", "only queries over this connection").default("", "all"),
    },
    isList: true,
  },
  {
    name: "registered-query",
    rpc: "RegisteredQuery",
    description: "print one registered query",
    arguments: ["query_id"],
  },
  {
    name: "query-result",
    rpc: "QueryResult",
    description: "print the last result of a KV query",
    arguments: ["query_id"],
  },
  {
    name: "query-last-remote-height",
    rpc: "LastRemoteHeight",
    description: "print the latest remote height that the light client of a connection knows",
    arguments: ["connection_id"],
  },
];
