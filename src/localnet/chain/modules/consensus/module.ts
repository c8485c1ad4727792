import type { JsonValue } from "../../../../platform/base/json.ts";
import {
  QueryParamsRequest,
  QueryParamsResponse,
} from "../../../../cosmos/proto/gen/cosmos/consensus/v1/query.ts";
import type { Context } from "../../runtime/context.ts";
import {
  GenesisError,
  type GenesisSchema,
  partOr,
  printGenesis,
  readGenesis,
} from "../../runtime/genesis.ts";
import { toQueryHandler } from "../../runtime/handlers.ts";
import type { ChainModule } from "../../runtime/module.ts";
import { MODULE_NAME, consensusParams, DEFAULT_PARAMS, storedParams } from "./params.ts";

/** The SDK's module has no genesis. Ours has the form of the query response, `{"params": …}`. */
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
        (context) => ({ params: consensusParams(context) }),
      ),
    ],
    initGenesis,
    exportGenesis: (context) => printGenesis(SCHEMA, { params: consensusParams(context) }),
  };
}

function initGenesis(context: Context, json: JsonValue | undefined): void {
  const given = partOr(json, "params", readGenesis(SCHEMA, json)?.params, undefined);
  const params = {
    block: given?.block ?? DEFAULT_PARAMS.block,
    evidence: given?.evidence ?? DEFAULT_PARAMS.evidence,
    validator: given?.validator ?? DEFAULT_PARAMS.validator,
    version: given?.version ?? DEFAULT_PARAMS.version,
    abci: given?.abci ?? DEFAULT_PARAMS.abci,
  };
  if ((params.block?.maxBytes ?? 0n) === 0n)
    throw new GenesisError(
      "app_state.consensus.params.block.max_bytes",
      "a number above zero, or -1, was expected",
    );
  storedParams.set(context, params);
}
