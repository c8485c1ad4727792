import type { Command } from "commander";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { PARAMS_TABLE, serviceQueryCommands } from "../../../../cli/module-query.ts";

/** `relaywatch query ibc-rate-limit`. */
export function queryIbcRateLimitCommand(context: CliContext): Command {
  return serviceQueryCommands(
    {
      service: "neutron.ibcratelimit.v1beta1.Query",
      arguments: {},
      tables: { Params: PARAMS_TABLE },
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
