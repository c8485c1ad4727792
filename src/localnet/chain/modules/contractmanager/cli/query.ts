import { Argument, type Command } from "commander";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { CONTRACT_MANAGER_TABLES } from "../../ibc/cli/tables.ts";
import { serviceQueryCommands } from "../../../../cli/module-query.ts";

/** `relaywatch query contractmanager`. */
export function queryContractManagerCommand(context: CliContext): Command {
  return serviceQueryCommands(
    {
      service: "neutron.contractmanager.Query",
      arguments: {
        address: () => new Argument("<address>", "address of the contract"),
        failure_id: () => new Argument("<failure-id>", "number of the failure"),
      },
      tables: CONTRACT_MANAGER_TABLES,
      queries: [
        { name: "params", rpc: "Params", description: "print the gas that a sudo call may use" },
        {
          name: "failures",
          rpc: "Failures",
          description: "list the failed calls of all contracts",
          isList: true,
        },
        {
          name: "contract-failures",
          rpc: "AddressFailures",
          description: "list the failed calls of a contract",
          arguments: ["address"],
          isList: true,
        },
        {
          name: "failure-details",
          rpc: "AddressFailure",
          description: "print a failed call",
          arguments: ["address", "failure_id"],
        },
      ],
    },
    context,
  );
}
