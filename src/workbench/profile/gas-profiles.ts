import type { GasTracer } from "../../localnet/chain/runtime/gas-trace.ts";
import type { ProfileRequest } from "../../localnet/cli/gas-reports.ts";
import type { NodeDeps } from "../../localnet/node/create-node.ts";
import { unreachable } from "../../platform/base/errors.ts";
import { PROFILE_PATH, type ProfileReport } from "./profile-json.ts";
import { makeProfile, type ProfileDeps, queryProfile } from "./profile-tx.ts";
import { createProfiler } from "./profiler.ts";

export interface GasProfiles {
  readonly tracer: GasTracer;
  /** Queries for the chain's node. */
  readonly queries: NonNullable<NodeDeps["queries"]>;
  /** Reruns a transaction or a query. Throws `ProfileError`. Call it only once the node is ready. */
  readonly make: (request: ProfileRequest) => ProfileReport;
}

export function createGasProfiles(): GasProfiles {
  const profiler = createProfiler();
  let node: ProfileDeps | undefined;
  const make: GasProfiles["make"] = (request) =>
    makeProfile(request, node ?? unreachable("a profile before the node is ready"));
  return {
    tracer: profiler.tracer,
    queries: (parts) => {
      node = { ...parts, profiler };
      return new Map([[PROFILE_PATH, (request) => queryProfile(request, make)]]);
    },
    make,
  };
}
