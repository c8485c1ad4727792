import * as tx from "../../../../cosmos/proto/gen/cosmos/consensus/v1/tx.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmos/consensus/v1/query.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import { joinNs } from "../../../../platform/base/time.ts";
import type { Context } from "../../runtime/context.ts";
import { unregisteredError } from "../../runtime/errors.ts";
import { genesisSchema, partOr, printGenesis, readGenesis } from "../../runtime/genesis.ts";
import { messageHandlers, queryHandlers } from "../../runtime/handlers.ts";
import type { ChainModule } from "../../runtime/module.ts";
import { MODULE_NAME, moduleParams } from "./params.ts";

/** The SDK's module has no genesis; this one uses the schema of the query response, `{"params": …}`. */
const SCHEMA = genesisSchema(
  MODULE_NAME,
  "cosmos.consensus.v1.QueryParamsResponse",
  wire.QueryParamsResponse,
);

/** Creates the `consensus` module: block and evidence limits. */
export function createConsensusModule({ authority }: { readonly authority: string }): ChainModule {
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: messageHandlers(tx.Msg, {
      UpdateParams: (context, message) => {
        if (message.authority !== authority)
          throw unregisteredError(`invalid authority; expected ${authority}, got ${message.authority}`);
        updateParams(context, message);
      },
    }),
    queries: queryHandlers(wire.Query, { Params: moduleParams.query }),
    initGenesis,
    exportGenesis: (context) => printGenesis(SCHEMA, { params: moduleParams.get(context) }),
  };
}

const MAX_BLOCK_BYTES = 104_857_600n;
/** Consensus key types that CometBFT supports. */
const KEY_TYPES = ["ed25519", "secp256k1", "bls12_381"];

/** Replaces the limits. The version is unchanged, and so are the ABCI settings unless the message sets them. */
function updateParams(context: Context, { block, evidence, validator, abci }: tx.MsgUpdateParams): void {
  if (block === undefined || evidence === undefined || validator === undefined)
    throw unregisteredError("all parameters must be present");
  const { maxBytes, maxGas } = block;
  if (maxBytes === 0n) throw unregisteredError("block.MaxBytes cannot be 0");
  if (maxBytes < -1n) throw unregisteredError(`block.MaxBytes must be -1 or greater than 0. Got ${maxBytes}`);
  if (maxBytes > MAX_BLOCK_BYTES)
    throw unregisteredError(`block.MaxBytes is too big. ${maxBytes} > ${MAX_BLOCK_BYTES}`);
  if (maxGas < -1n) throw unregisteredError(`block.MaxGas must be greater or equal to -1. Got ${maxGas}`);
  checkEvidence(evidence, maxBytes === -1n ? MAX_BLOCK_BYTES : maxBytes);
  const height = abci?.voteExtensionsEnableHeight ?? 0n;
  if (height < 0n)
    throw unregisteredError(`ABCI.VoteExtensionsEnableHeight cannot be negative. Got: ${height}`);
  checkKeyTypes(validator.pubKeyTypes);
  const before = moduleParams.get(context);
  moduleParams.set(context, { ...before, block, evidence, validator, abci: abci ?? before.abci });
}

function checkEvidence(
  { maxAgeNumBlocks, maxAgeDuration, maxBytes }: NonNullable<tx.MsgUpdateParams["evidence"]>,
  maxBlockBytes: bigint,
): void {
  if (maxAgeNumBlocks <= 0n)
    throw unregisteredError(`evidence.MaxAgeNumBlocks must be greater than 0. Got ${maxAgeNumBlocks}`);
  if (joinNs(maxAgeDuration) <= 0n)
    throw unregisteredError(
      `evidence.MaxAgeDuration must be grater than 0 if provided, Got ${joinNs(maxAgeDuration)}ns`,
    );
  if (maxBytes > maxBlockBytes)
    throw unregisteredError(
      `evidence.MaxBytesEvidence is greater than upper bound, ${maxBytes} > ${maxBlockBytes}`,
    );
  if (maxBytes < 0n) throw unregisteredError(`evidence.MaxBytes must be non negative. Got: ${maxBytes}`);
}

function checkKeyTypes(types: readonly string[]): void {
  if (types.length === 0) throw unregisteredError("len(Validator.PubKeyTypes) must be greater than 0");
  types.forEach((type, index) => {
    if (!KEY_TYPES.includes(type))
      throw unregisteredError(`params.Validator.PubKeyTypes[${index}], ${type}, is an unknown pubkey type`);
  });
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
