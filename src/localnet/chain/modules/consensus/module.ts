import type { JsonValue } from "../../../../platform/base/json.ts";
import {
  QueryParamsRequest,
  QueryParamsResponse,
} from "../../../../cosmos/proto/gen/cosmos/consensus/v1/query.ts";
import type { Context } from "../../runtime/context.ts";
import { type GenesisSchema, partOr, printGenesis, readGenesis } from "../../runtime/genesis.ts";
import { toQueryHandler } from "../../runtime/handlers.ts";
import type { ChainModule } from "../../runtime/module.ts";
import { MODULE_NAME, moduleParams } from "./params.ts";

/** The SDK's module has no genesis. Ours has the schema of the query response, `{"params": …}`. */
const SCHEMA: GenesisSchema<QueryParamsResponse> = {
  module: MODULE_NAME,
  typeName: "cosmos.consensus.v1.QueryParamsResponse",
  type: QueryParamsResponse,
};

/** Creates the module `consensus`: limits of blocks and evidence. */
export function createConsensusModule(): ChainModule {
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: [],
    queries: [
      toQueryHandler(
        "/cosmos.consensus.v1.Query/Params",
        { request: QueryParamsRequest, response: QueryParamsResponse },
        (context) => ({ params: moduleParams.get(context) }),
      ),
    ],
    initGenesis,
    exportGenesis: (context) => printGenesis(SCHEMA, { params: moduleParams.get(context) }),
  };
}

function initGenesis(context: Context, json: JsonValue | undefined): void {
  const given = partOr(json, "params", readGenesis(SCHEMA, json)?.params, undefined);
  const { defaults } = moduleParams;
  moduleParams.set(context, {
    block: given?.block ?? defaults.block,
    evidence: given?.evidence ?? defaults.evidence,
    validator: given?.validator ?? defaults.validator,
    version: given?.version ?? defaults.version,
    abci: given?.abci ?? defaults.abci,
  });
}
