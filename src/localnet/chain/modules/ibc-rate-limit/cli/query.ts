import { query, queryCommands } from "../../../../cli/module-query.ts";

/** `relaywatch query ibc-rate-limit`. */
export const queryIbcRateLimitCommand = queryCommands({
  service: "neutron.ibcratelimit.v1beta1.Query",
  queries: { params: query("Params", "print the contract that decides which transfers pass") },
});
