import { subscribedContracts } from "./subscriptions.ts";
import * as wire from "../../../../cosmos/proto/gen/neutron/harpoon/query.ts";
import { toChainTypeUrl } from "../../../../cosmos/proto/type-urls.ts";
import { toQueryHandler } from "../../runtime/handlers.ts";
import type { QueryHandler } from "../../runtime/module.ts";
import { requireHookType } from "./hook-type.ts";
import { ModuleError, QueryError, GrpcCode } from "../../runtime/errors.ts";

/** The query of the module. Its path begins with the chain's own name. */
export function createQueryHandlers(chainName: string): readonly QueryHandler[] {
  return [
    toQueryHandler(
      toChainTypeUrl("/neutron.harpoon.Query/SubscribedContracts", chainName),
      { request: wire.QuerySubscribedContractsRequest, response: wire.QuerySubscribedContractsResponse },
      (context, { hookType }) => {
        asArgument(() => requireHookType(hookType));
        return { contractAddresses: [...subscribedContracts(context, hookType)] };
      },
    ),
  ];
}

function asArgument(check: () => void): void {
  try {
    check();
  } catch (error) {
    throw error instanceof ModuleError ? new QueryError(GrpcCode.InvalidArgument, error.message) : error;
  }
}
