import type { JsonValue } from "../../../base/json.ts";
import { isRecord } from "../../../base/json.ts";
import { utf8 } from "../../../base/bytes.ts";
import { QueryParamsRequest, QueryParamsResponse } from "../../../proto/gen/cosmos/consensus/v1/query.ts";
import { ConsensusParams } from "../../../proto/gen/tendermint/types/params.ts";
import { BLOCK_RECORD_STORE } from "../../runtime/block-record.ts";
import type { Context } from "../../runtime/context.ts";
import { GenesisError, type GenesisForm, printGenesis, readGenesis } from "../../runtime/genesis.ts";
import { toQueryHandler } from "../../runtime/handler-forms.ts";
import type { ChainModule } from "../../runtime/module.ts";
import { createItem, messageCodec, rememberingCodec } from "../../store/collections.ts";

/** Name of the module and of its store, which also holds the record of the last block. */
const MODULE_NAME = BLOCK_RECORD_STORE;

const FORM: GenesisForm<QueryParamsResponse> = {
  module: MODULE_NAME,
  typeName: "cosmos.consensus.v1.QueryParamsResponse",
  type: QueryParamsResponse,
};

const paramsItem = createItem(
  MODULE_NAME,
  utf8("Consensus"),
  rememberingCodec(messageCodec(ConsensusParams)),
);

/** Limits that hold when a genesis names none: those of the deployed chain, without vote extensions. */
const DEFAULT_CONSENSUS_PARAMS: ConsensusParams = {
  block: { maxBytes: 22_020_096n, maxGas: 1_000_000_000n },
  evidence: {
    maxAgeNumBlocks: 100_000n,
    maxAgeDuration: { seconds: 172_800n, nanos: 0 },
    maxBytes: 1_048_576n,
  },
  validator: { pubKeyTypes: ["ed25519"] },
  version: { app: 0n },
  abci: { voteExtensionsEnableHeight: 0n },
};

/** Gas that the transactions of a block may use together. */
export function maxBlockGas(context: Context): bigint {
  return consensusParams(context).block?.maxGas ?? -1n;
}

function consensusParams(context: Context): ConsensusParams {
  return paramsItem.get(context) ?? DEFAULT_CONSENSUS_PARAMS;
}

/** The module `consensus`: limits of blocks and evidence. Its genesis is `{"params": …}` as the query answers. */
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
    exportGenesis: (context) => printGenesis(FORM, { params: consensusParams(context) }),
  };
}

function initGenesis(context: Context, json: JsonValue | undefined): void {
  const given =
    isRecord(json) && Object.keys(json).length === 0 ? undefined : readGenesis(FORM, json)?.params;
  const { block, evidence, validator, version, abci } = DEFAULT_CONSENSUS_PARAMS;
  const params = {
    block: given?.block ?? block,
    evidence: given?.evidence ?? evidence,
    validator: given?.validator ?? validator,
    version: given?.version ?? version,
    abci: given?.abci ?? abci,
  };
  if ((params.block?.maxBytes ?? 0n) === 0n)
    throw new GenesisError(
      "app_state.consensus.params.block.max_bytes",
      "a number above zero, or -1, was expected",
    );
  paramsItem.set(context, params);
}
