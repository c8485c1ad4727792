import type { Command } from "commander";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { RATE_LIMIT_TABLES } from "../../ibc/cli/tables.ts";
import { serviceQueryCommands } from "../../../../cli/module-query.ts";

/** `relaywatch query ibc-rate-limit`. */
export function queryIbcRateLimitCommand(context: CliContext): Command {
  return serviceQueryCommands(
    {
      service: "neutron.ibcratelimit.v1beta1.Query",
      arguments: {},
      tables: RATE_LIMIT_TABLES,
      queries: [
        {
          name: "params",
          rpc: "Params",
          description: "print the contract that decides which transfers pass",
        },
      ],
    },
    context,
  );
}
