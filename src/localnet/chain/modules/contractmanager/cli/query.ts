import { Argument, type Command } from "commander";
import type { JsonValue } from "../../../../../platform/base/json.ts";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { cellText, column, fieldAt } from "../../../../../platform/cli/table.ts";
import { type AnswerTable, PARAMS_TABLE, serviceQueryCommands } from "../../../../cli/module-query.ts";

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

const FAILURE_COLUMNS = [
  column("CONTRACT", "address"),
  column("FAILURE", "id"),
  column("ERROR", "error"),
  { title: "CALL", cell: (row: JsonValue) => callText(fieldAt(row, "sudo_payload")) },
];

/** The payload of a failed call is JSON in base64. */
function callText(payload: JsonValue): string {
  return cellText(typeof payload === "string" ? Buffer.from(payload, "base64").toString("utf8") : null);
}

/** Tables of `neutron.contractmanager.Query`. */
const CONTRACT_MANAGER_TABLES = {
  Params: PARAMS_TABLE,
  Failures: { path: "failures", columns: FAILURE_COLUMNS },
  AddressFailures: { path: "failures", columns: FAILURE_COLUMNS },
  AddressFailure: { path: "failure", columns: FAILURE_COLUMNS },
} as const satisfies Readonly<Record<string, AnswerTable>>;
