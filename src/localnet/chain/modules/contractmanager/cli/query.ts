import type { JsonValue } from "../../../../../platform/base/json.ts";
import { cellText, fieldAt } from "../../../../../platform/cli/table.ts";
import { unchecked } from "../../../../cli/command-inputs.ts";
import { query, queryCommands } from "../../../../cli/module-query.ts";

const FAILURES = { columns: { CONTRACT: "address", FAILURE: "id", ERROR: "error", CALL: callText } };

/** The payload of a failed call is JSON in base64. */
function callText(failure: JsonValue): string {
  const payload = fieldAt(failure, "sudo_payload");
  return cellText(typeof payload === "string" ? Buffer.from(payload, "base64").toString("utf8") : null);
}

/** `relaywatch query contractmanager`. */
export const queryContractManagerCommand = queryCommands({
  service: "neutron.contractmanager.Query",
  fields: {
    address: "<address> address of the contract",
    failure_id: ["<failure-id> number of the failure", unchecked],
  },
  queries: {
    params: query("Params", "print the gas that a sudo call may use"),
    failures: query("Failures", "list the failed calls of all contracts", { ...FAILURES, takes: [] }),
    "contract-failures": query("AddressFailures", "list the failed calls of a contract", FAILURES),
    "failure-details": query("AddressFailure", "print a failed call", FAILURES),
  },
});
